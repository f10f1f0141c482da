"""ISO 4217: the codes in use, with funds and metals, without the codes for tests and for no currency."""

CURRENCIES = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF
    CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
    HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL
    MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON
    RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX
    USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XUA YER ZAR
    ZMW ZWG
    """.split()
)

# How many decimals prices are written with, where it is not two. Also where the standard has two that no shop uses.
_WITHOUT_DECIMALS = frozenset(
    "BIF CLP COP DJF GNF HUF IDR IRR ISK JPY KMF KRW LAK MGA MMK MNT PYG RWF TZS UGX UZS VND VUV XAF XOF XPF".split()
)
_WITH_THREE = frozenset("BHD IQD JOD KWD LYD OMR TND".split())


def decimals_of(currency: str | None) -> int:
    """How many decimals its prices have: ``VND`` 0, ``EUR`` 2, ``KWD`` 3; 2 where nothing is known."""
    if currency in _WITHOUT_DECIMALS:
        return 0
    return 3 if currency in _WITH_THREE else 2
