# SPDX-License-Identifier: MIT
"""Which links of a site lead nowhere: read from the files alone, whatever made them."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ADDRESSES = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src",
             "iframe": "src", "form": "action"}
ELSEWHERE = ("https", "http", "mailto")  # may be linked to, but nothing may be loaded from there


class Reader(HTMLParser):
    """The anchors and the addresses of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.addresses = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        if ADDRESSES.get(tag) in attributes:
            self.addresses.append((tag, attributes[ADDRESSES[tag]] or ""))
        elif tag == "a":
            self.addresses.append((tag, None))


def dead_links(site):
    """`page: address: what is wrong` of each."""
    site = Path(site).resolve()
    pages = {path: Reader(path.read_text()) for path in sorted(site.rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        for tag, address in page.addresses:
            fault = fault_of(site, pages, path, tag, address)
            if fault:
                faults.append(f"{path.relative_to(site)}: {address}: {fault}")
    return faults


def fault_of(site, pages, path, tag, address):
    if address is None:
        return "a link without an address"
    parts = urlsplit(address)
    if parts.scheme in ELSEWHERE:
        return "" if tag == "a" else "loaded from elsewhere"
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return "not within the site"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if site not in target.parents:
        return "outside of the site"
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and (target not in pages or anchor not in pages[target].anchors):
        return "no such anchor"
    return ""
