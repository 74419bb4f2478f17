"""What tests ask of any HTML page that the library writes."""

import re

_FETCHES = re.compile(r"https?:|src=|href=|@import|url\((?!#)")


def fetched(page):
    """What a page would fetch, or links to: an address, but not a part of the page itself."""
    return _FETCHES.findall(page)
