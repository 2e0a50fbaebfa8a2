"""Text that comes from a file, safe to show on a terminal: characters that would act there are shown as codes."""

from __future__ import annotations

import re

# Control characters (C0, DEL, C1), marks that change the direction of text or that cannot be seen, separators of lines,
# and halves of surrogate pairs. A terminal obeys some of them: it clears the screen, hides text or turns it around.
# Joiners (U+200C, U+200D) stay: words in Persian and Hindi need them, and they change nothing around them.
ACTING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return one text on one line, with each character that a terminal would obey shown as its code.

    >>> print(visible("\x1b[2Jok\n\u202egod"))
    \x1b[2Jok\n\u202egod
    """
    return ACTING.sub(_code, text) if ACTING.search(text) else text


def visible_lines(text: str) -> str:
    """Return lines of text with the same characters shown, except the ends of lines."""
    return "\n".join(map(visible, text.split("\n")))


def _code(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]
