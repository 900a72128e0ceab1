"""What one segment costs (§6 `price_czk`, `price_eur`; A61).

The figures are made up, of the order of what such services ask: the sandbox shows that a charge was made, and that it
depends on country and channel. Millionths of the currency, so that sums stay integers.
"""

from __future__ import annotations

from typing import Final

from sendbox.services.assume import Prices

#: Crowns for a euro, in this table only; nothing converts an account's money.
CZK_PER_EUR: Final = 25

#: Millionths of a euro by channel and calling code; "" is every other country.
_EUR: Final = {
    "sms": {
        "": 90_000, "1": 12_000, "30": 56_000, "31": 96_000, "32": 98_000, "33": 62_000, "34": 60_000, "351": 44_000,
        "353": 78_000, "358": 80_000, "359": 96_000, "36": 84_000, "370": 40_000, "371": 50_000, "372": 70_000,
        "380": 110_000, "381": 62_000, "385": 76_000, "386": 92_000, "39": 68_000, "40": 70_000, "41": 66_000,
        "420": 36_000, "421": 52_000, "43": 88_000, "44": 42_000, "45": 48_000, "46": 66_000, "47": 62_000,
        "48": 32_000, "49": 90_000, "7": 120_000, "90": 24_000, "91": 70_000,
    },
    "richmsg": {"": 40_000, "420": 16_000, "421": 18_000, "380": 10_000, "48": 20_000, "49": 44_000},
    "chatapp": {
        "": 60_000, "1": 28_000, "33": 82_000, "39": 66_000, "420": 54_000, "421": 54_000, "44": 50_000, "48": 54_000,
        "49": 110_000, "91": 12_000,
    },
}  # fmt: skip

#: (channel, calling code) to the price of a segment: (EUR, CZK) in millionths.
PRICES: Final = {
    (channel, code): (eur, eur * CZK_PER_EUR) for channel, codes in _EUR.items() for code, eur in codes.items()
}


def price(channel: str, calling_code: str, table: Prices | None) -> tuple[int, int]:
    """The price (EUR, CZK) of a segment on `sms`, `richmsg` or `chatapp`; KeyError for another channel.

    A scenario's entries come before the built-in ones: its price for the country, its price for any other country,
    then ours likewise.
    """
    own = {} if table is None else table.table
    for key in ((channel, calling_code), (channel, "")):
        if key in own:
            return own[key]
    return PRICES.get((channel, calling_code)) or PRICES[channel, ""]


def combined(prices: Prices | None) -> dict[tuple[str, str], tuple[int, int]]:
    """One table to look prices up in: under (channel, calling code), and if that is absent under (channel, "")."""
    if prices is None:
        return dict(PRICES)
    # A scenario's price for any other country also replaces our prices for single countries.
    replaced = {channel for channel, code in prices.table if not code}
    return {key: value for key, value in PRICES.items() if key[0] not in replaced} | prices.table
