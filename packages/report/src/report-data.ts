/** The data that the page reads from its own document, in one JSON data block. */
export type ReportData = {
  /** The evidence pack, unchanged. */
  pack: string;
  /** A JWK Set, as `GET /api/v1/trust/keys` returns it, or a trust list. */
  keys: string;
  /** The root key that signed the trust list. */
  root?: string;
  /** The witnesses that the reader trusts, as a C2SP tlog-policy. */
  policy?: string;
};

/** The `id` of the data block. */
export const dataId = 'data';
