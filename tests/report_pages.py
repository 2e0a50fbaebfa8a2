"""What every report must be in a real browser: whole, calm, readable, and with the figures of its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from browser import DESKTOP, PHONE, visit

PAPER = (672, 1000)  # what is left of a page of A4 between its margins
# Tables and pictures that are cut at the edge of the page, by their first words.
CUT = """[...document.querySelectorAll('.scroll, figure')].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent.trim().slice(0, 40))"""
# Texts and marks of pictures that stand out too little from what is behind them: WCAG 2.2, 1.4.3 and 1.4.11.
FAINT = """(() => {
    const channels = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = colour => channels(colour).slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = e => {
        for (; e; e = e.parentElement) {
            const colour = getComputedStyle(e).backgroundColor;
            if ((channels(colour)[3] ?? 1) === 1) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const ratio = (one, other) => {
        const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
    };
    const faint = [];
    for (const e of document.querySelectorAll('body *')) {
        const isText = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        const style = getComputedStyle(e), marked = e.closest('.mark-symbol, .mark-rect, .role-legend-symbol');
        if (isText && !['title', 'desc'].includes(e.tagName)) {
            const colour = e.tagName === 'text' ? style.fill : style.color;
            if (ratio(colour, behind(e)) < 4.5) faint.push([e.tagName, e.textContent.slice(0, 30), colour]);
        } else if (e.tagName === 'path' && marked && style.fill.startsWith('rgb(')) {
            if (ratio(style.fill, behind(e)) < 3) faint.push(['path', marked.getAttribute('class'), style.fill]);
        }
    }
    return faint;
})()"""
FIGURES = "Object.fromEntries([...document.querySelectorAll('data')].map(e => [e.dataset.figure, e.value]))"


def check_page(chromium: Any, path: Path, certificate: Mapping[str, Any]) -> None:
    """Open a page at every width, on paper, in light and dark, and compare its figures with the certificate."""
    address = path.as_uri()
    with visit(chromium, address) as visited:
        for (width, height), media in ((DESKTOP, "screen"), (PHONE, "screen"), (PAPER, "print")):
            visited.page.set_viewport_size({"width": width, "height": height})
            visited.page.emulate_media(media=media)
            assert not visited.is_too_wide()
            assert visited.page.evaluate(CUT) == [], (width, media)
        visited.page.emulate_media(media="screen")
        for scheme in ("light", "dark"):
            visited.page.emulate_media(color_scheme=scheme)
            assert visited.page.evaluate(FAINT) == [], scheme
        assert visited.requests == [address]
        assert visited.complaints == []
        ids = visited.page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        assert visited.page.locator("h1").count() == 1
        assert visited.page.locator("th:not([scope]), svg:not([role=img]), script").count() == 0
        shown = visited.page.evaluate(FIGURES)
    certified = {key: value for key, value in shown.items() if not key.startswith("risk.")}
    assert {"release.rows", "release.average_loss", "promise.worst_ratio", "promise.worst_gain"} <= set(certified)
    for key, value in certified.items():
        section, field = key.split(".")
        assert float(value) == certificate[section][field], key
