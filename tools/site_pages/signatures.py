# SPDX-License-Identifier: MIT
"""Declarations as the reference shows them, each type in them a link."""

import re

from .frame import escape

COLUMNS = 84
KEYWORDS = re.compile(r"\b(?:template|class|struct|union|enum|concept|requires|typename|using|"
                      r"static|constexpr|const|noexcept|explicit|operator|default|delete|override|"
                      r"virtual|inline|auto|void|bool|int|char|unsigned|long|double|float)\b")


def signature(element, name, writer, anchor=""):
    """The box with the declaration of a type or a member."""
    kind = element.get("kind")
    maker = {"function": function, "variable": variable, "typedef": alias, "enum": enumeration,
             "define": macro, "concept": concept}.get(kind, type_head)
    code = maker(element, name, writer)
    return (f'<pre class="code signature" role="group" aria-label="Declaration" tabindex="0"'
            f"{anchor}><code>{code}</code></pre>\n")


def marked(text):
    """Escaped text with its keywords marked; `text` holds no markup."""
    return KEYWORDS.sub(r'<span class="k">\g<0></span>', tidy(escape(text)))


def tidy(text):
    """Doxygen's spaces, less those that this house does not write."""
    text = text.replace("&lt; ", "&lt;").replace(" &gt;", "&gt;")
    return re.sub(r" (&amp;&amp;|&amp;|\*)(?=[\s,)]|\.\.\.|$|\w)", r"\1 ", text).replace("  ", " ")


def linked(element, writer):
    """An element's text, with what it refers to as links."""
    if element is None:
        return ""
    out = [marked(element.text or "")]
    for child in element:
        out += [writer.reference(child) if child.tag == "ref" else marked(child.text or ""),
                marked(child.tail or "")]
    return "".join(out).strip()


def plain(html):
    return re.sub(r"<[^>]*>", "", html)


def parameter(param, writer):
    kind = linked(param.find("type"), writer)
    name = param.findtext("declname") or param.findtext("defname") or ""
    default = linked(param.find("defval"), writer)
    array = escape(param.findtext("array") or "")
    return (kind + (f" {escape(name)}" if name else "") + array
            + (f" = {default}" if default else ""))


def template(element, writer):
    params = element.find("templateparamlist")
    if params is None:
        return ""
    inner = ", ".join(parameter(param, writer) for param in params.findall("param"))
    return f'<span class="k">template</span> &lt;{inner}&gt;\n' + constraint(element)


def constraint(element):
    clause = element.findtext("requiresclause")
    return f'  <span class="k">requires</span> {marked(clause.strip())}\n' if clause else ""


def after_parameters(arguments):
    """`const noexcept=default` of `(int a, int b) const noexcept=default`."""
    depth = 0
    for at, character in enumerate(arguments):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return arguments[at + 1:].replace("=", " = ").rstrip()
    return ""


def function(element, name, writer):
    said = element.findtext("argsstring", "")
    kind = linked(element.find("type"), writer)
    begin = "".join(f'<span class="k">{word}</span> ' for word in ("static", "explicit", "virtual")
                    if element.get(word) == "yes" and word not in plain(kind))
    begin += (kind + " " if kind else "") + f'<b>{escape(name)}</b>('
    params = [parameter(param, writer) for param in element.findall("param")]
    params = [] if params == ['<span class="k">void</span>'] else params
    end = ")" + marked(after_parameters(said)) + ";"
    if len(plain(begin + ", ".join(params) + end)) <= COLUMNS or not params:
        line = begin + ", ".join(params) + end
    else:
        line = begin + "\n    " + ",\n    ".join(params) + end
    return template(element, writer) + line


def variable(element, name, writer):
    kind = linked(element.find("type"), writer)
    begin = '<span class="k">static</span> ' if (
        element.get("static") == "yes" and "static" not in plain(kind)) else ""
    value = element.findtext("initializer") or ""
    array = escape(element.findtext("argsstring") or "")
    value = f" {marked(' '.join(value.split()))}" if value and len(value) < COLUMNS else ""
    return template(element, writer) + f"{begin}{kind} <b>{escape(name)}</b>{array}{value};"


def alias(element, name, writer):
    return (template(element, writer) + f'<span class="k">using</span> <b>{escape(name)}</b> = '
            + linked(element.find("type"), writer) + ";")


def enumeration(element, name, writer):
    base = linked(element.find("type"), writer)
    word = "enum class" if element.get("strong") == "yes" else "enum"
    return f"{marked(word)} <b>{escape(name)}</b>" + (f" : {base}" if base else "") + ";"


def macro(element, name, _writer):
    params = [param.findtext("defname") or "" for param in element.findall("param")]
    inner = f"({escape(', '.join(params))})" if params else ""
    return f'<span class="k">#define</span> <b>{escape(name)}</b>{inner}'


def concept(element, _name, writer):
    text = linked(element.find("initializer"), writer)
    return re.sub(r"= +", "= ", text.replace("handoff::", "")) + ";"


def type_head(element, name, writer):
    bases = ", ".join(f"{escape(base.get('prot', 'public'))} {escape(base.text or '')}"
                      for base in element.findall("basecompoundref")
                      if "detail::" not in (base.text or ""))
    whole = element.findtext("compoundname", name).removeprefix("handoff::")
    kind = marked(element.get("kind"))
    return (template(element, writer) + f"{kind} <b>{tidy(escape(whole))}</b>"
            + (f" : {bases}" if bases else "") + ";")
