/** Signs envelopes and nothing else. The keys of both algorithms come from one secret. */
export type EvidenceSigner = Readonly<Record<EvidenceAlgorithm, EvidenceSigning>>;

export type EvidenceAlgorithm = 'ES256' | 'EdDSA';

export type EvidenceSigning = {
  readonly keyId: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** ES256 hashes the bytes with SHA-256 and returns `r` and `s` in 64 bytes (IEEE P1363). EdDSA: RFC 8032. */
  sign(bytes: Uint8Array): Uint8Array;
};
