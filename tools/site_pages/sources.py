# SPDX-License-Identifier: MIT
"""Files of the repository as pages: what a text links to and is no text itself."""

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

from .frame import Page, escape

PLAIN = HtmlFormatter(nowrap=True)
BYTES_MAX = 400_000


def address_of(path):
    """Where the page of a file stands in the site."""
    return f"source/{path}.html"


def source_page(root, path):
    """The page that shows a file, with an anchor (L-12) for each line."""
    text = (root / path).read_text()
    if len(text) > BYTES_MAX:
        text = text[:BYTES_MAX] + "\n...\n"
    try:
        lexer = get_lexer_for_filename(path, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    lines = highlight(text, lexer, PLAIN).rstrip("\n").split("\n")  # no markup crosses a line's end
    code = "\n".join(f'<span id="L-{number}">{line}</span>' for number, line in enumerate(lines, 1))
    section = "guides" if path.startswith("examples/") else "reference"
    page = Page(path=address_of(path), title=path, section=section, source=path,
                summary=f"The file {path} of the repository.")
    page.body = (f'<h1 class="path">{escape(path)}</h1>\n'
                 f'<pre class="code lines" role="group" aria-label="{escape(path)}" tabindex="0">'
                 f"<code>{code}</code></pre>\n")
    page.texts = [[path, "", [head_comment(text)]]]
    return page


def head_comment(text):
    """The words of the comment that the file begins with, for the search."""
    words = []
    for line in text.splitlines():
        if not line.startswith(("//", "#")):
            break
        if "SPDX-License-Identifier" not in line and not line.startswith("#!"):
            words.append(line.lstrip("/# "))
    return " ".join(words)


def example_summary(text):
    return head_comment(text).strip()
