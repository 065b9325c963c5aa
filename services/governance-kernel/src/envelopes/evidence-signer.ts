/** Signs envelopes and nothing else. Both keys come from one secret. */
export type EvidenceSigner = Readonly<Record<EvidenceAlgorithm, EvidenceSigning>>;

export type EvidenceAlgorithm = 'ES256' | 'EdDSA';

export type EvidenceSigning = {
  readonly keyId: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** ES256: SHA-256 inside, `r` and `s` in 64 bytes (IEEE P1363). EdDSA: RFC 8032. */
  sign(bytes: Uint8Array): Uint8Array;
};
