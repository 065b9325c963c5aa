/**
 * The alphabetic codes of ISO 4217, list one, as of 2026. The codes for tests and for no currency are omitted, since no
 * amount has them. Sealed amounts with a code that later left the list stay readable.
 */
export const currencies: ReadonlySet<string> = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE ' +
    'CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD ' +
    'HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD ' +
    'MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR ' +
    'RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH ' +
    'UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XUA ' +
    'YER ZAR ZMW ZWG'
  ).split(' '),
);

/** ISO 4217 exponents other than 2. */
const minorDigits: ReadonlyMap<string, number> = new Map(
  [
    { digits: 0, codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF' },
    { digits: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
    { digits: 4, codes: 'CLF UYW' },
  ].flatMap(({ digits, codes }) => codes.split(' ').map((code): [string, number] => [code, digits])),
);

/** Metals, funds and units of account, for which ISO 4217 defines no minor unit. */
const withoutMinorUnit: ReadonlySet<string> = new Set('XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XUA'.split(' '));

/**
 * Decimal places of the minor unit: 2 for EUR, 0 for JPY, 3 for KWD. `null` when ISO 4217 defines no minor unit or no
 * such code.
 */
export function minorDigitsOf(currency: string): number | null {
  if (!currencies.has(currency) || withoutMinorUnit.has(currency)) return null;
  return minorDigits.get(currency) ?? 2;
}
