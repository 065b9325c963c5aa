import { generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto';
import type { HostChain, HostReceipt, RecorderKey } from '@countersign/contracts/governance-kernel';
import { canonicalize, type JsonValue } from '@countersign/crypto';

/** Hashes in the documented format, without the kernel's functions. */
const digest = (name: string, value: unknown) =>
  `sha256:${hash('sha256', `${name}\n${canonicalize(value as JsonValue)}`, 'hex')}`;

export type Seen = {
  at: number;
  host?: string;
  ip?: string;
  port?: number;
  bytes?: number;
  subject?: object;
  more?: object;
};

/** A host recorder with its own key. */
export class Recorder {
  readonly key: RecorderKey;
  readonly #alg: 'Ed25519' | 'ES256';
  readonly #privateKey: KeyObject;

  constructor(alg: 'Ed25519' | 'ES256' = 'Ed25519') {
    const pair =
      alg === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
    const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
    this.#alg = alg;
    this.#privateKey = pair.privateKey;
    const public_key = alg === 'Ed25519' ? x : point.toString('base64url');
    this.key = { key_id: `recorder-${alg}`, alg, public_key };
  }

  chain(chainId: string, events: readonly Seen[], options: { signed?: boolean; prev?: string } = {}): HostChain {
    const receipts: HostReceipt[] = [];
    for (const [index, seen] of events.entries()) {
      const unhashed = {
        receipt_id: `event-${index + 1}`,
        host_id: 'host-1',
        prev_receipt_hash: receipts.at(-1)?.receipt_hash ?? options.prev ?? null,
        subject: seen.subject ?? {},
        event: {
          kind: 'network_egress',
          observed_at: new Date(seen.at).toISOString(),
          ...(seen.host === undefined ? {} : { destination_host: seen.host }),
          ...(seen.ip === undefined ? {} : { destination_ip: seen.ip }),
          destination_port: seen.port ?? 443,
          protocol: 'tcp',
          bytes_sent: seen.bytes ?? 1,
          bytes_received: 0,
        },
        ...seen.more,
      };
      receipts.push(this.#sealed(chainId, unhashed, options.signed ?? true));
    }
    const source = { vendor: 'example', profile: 'ebpf-egress' };
    return { schema_version: 'countersign/host-chain.v1', chain_id: chainId, source, receipts };
  }

  #sealed(chainId: string, unhashed: object, isSigned: boolean): HostReceipt {
    const signed = { chain_id: chainId, receipt: unhashed };
    const receipt_hash = digest('countersign.host-receipt.v1', signed);
    const bytes = Buffer.from(`countersign.host-receipt.v1\n${canonicalize(signed as unknown as JsonValue)}`);
    const value =
      this.#alg === 'Ed25519'
        ? sign(null, bytes, this.#privateKey)
        : sign('sha256', bytes, { key: this.#privateKey, dsaEncoding: 'ieee-p1363' });
    const signature = { alg: this.#alg, key_id: this.key.key_id, value: value.toString('base64url') };
    return { ...unhashed, receipt_hash, ...(isSigned ? { signature } : {}) } as HostReceipt; // matches the schema
  }
}
