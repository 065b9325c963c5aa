import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canonicalBytes, canonicalize, digestOf, encodeBase64Url, publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';

type Members = Record<string, unknown>;
type Entry = { receipt: { log_index: number; payload: Members } & Members; record: null; witness: null };

const signer = createSigner(generateSigningKey().privateKeyPem);
const root = createSigner(generateSigningKey().privateKeyPem);
/** The value of `GOV_TRUST_ROOT`. */
export const trustRoot = encodeBase64Url(root.publicKey);
export const digest = `sha256:${'0'.repeat(64)}`;
export const instant = (ms: number) => new Date(ms).toISOString();

/** The ledger routes of a kernel over HTTP, with receipts that a test signs. */
export class ScriptedLedger {
  readonly #sealed = new Set<string>();
  readonly #entries = new Map<string, Entry[]>();
  /** Start positions of the pages that were read, except pages with a limit of one receipt. */
  readonly reads: number[] = [];
  /** Number of pages to answer before the kernel is down. `null` when it stays up. */
  pagesLeft: number | null = null;
  /** Number of pages that were not answered. */
  refusals = 0;
  #trust: { version: number; revokedAt: string | null } = { version: 1, revokedAt: null };
  #url = '';
  readonly #server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1');
    const body = this.#answer(url);
    if (body === null) return req.socket.destroy();
    res.writeHead(200, { 'content-type': 'application/json' });
    return res.end(JSON.stringify(body));
  });

  get url(): string {
    return this.#url;
  }

  /** Signs and appends a receipt. `tampered` members are changed after the signature. */
  append(tenant: string, members: Members, tampered: Members = {}): void {
    const entries = this.#entries.get(tenant) ?? [];
    const number = entries.length + 1;
    const ulid = `${String(tenant.charCodeAt(4)).padStart(3, '0')}${String(number).padStart(23, '0')}`;
    const settled = members['kind'] === 'outcome' ? { decision_receipt_id: `rcp_${ulid}` } : {};
    const payload = { ...basePayload(ulid, tenant), lamport_clock: number, ...members, ...settled };
    const value = encodeBase64Url(signer.sign(canonicalBytes(payload as never))); // JSON values only
    const signature = { alg: 'Ed25519', key_id: signer.keyId, value };
    const sealed = { payload: { ...payload, ...tampered }, signature };
    const receipt_hash = digestOf(nodeProvider, `countersign.receipt-hash.v1\n${canonicalize(sealed as never)}`);
    if (Object.keys(tampered).length === 0) this.#sealed.add(receipt_hash);
    entries.push({ receipt: { ...sealed, receipt_hash, log_index: number - 1 }, record: null, witness: null });
    this.#entries.set(tenant, entries);
  }

  /** Returns whether a receipt with this hash was appended unchanged. */
  isSealed(hash: unknown): boolean {
    return this.#sealed.has(String(hash));
  }

  /** Returns the 20 lowest hashes of the valid receipts of a period that match. */
  lowestHashes(
    tenant: string,
    matches: (payload: Members) => boolean,
    period: { from: string; to: string },
  ): unknown[] {
    const isOfPeriod = ({ issued_at }: Members) => String(issued_at) >= period.from && String(issued_at) < period.to;
    const found = (this.#entries.get(tenant) ?? []).filter(
      ({ receipt }) =>
        isOfPeriod(receipt.payload) && matches(receipt.payload) && this.isSealed(receipt['receipt_hash']),
    );
    return found
      .map(({ receipt }) => String(receipt['receipt_hash']))
      .toSorted()
      .slice(0, 20);
  }

  /** Publishes the next version of the trust list, which revokes the key of the receipts from this time on. */
  revokeFrom(revokedAt: string | null): void {
    this.#trust = { version: this.#trust.version + 1, revokedAt };
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** The trust list, whose only key signs the receipts. */
  #trustList(): object {
    const key = {
      ...publicKeyToJwk(signer.publicKey),
      ...{ kid: signer.keyId, use: 'sig', alg: 'EdDSA', purpose: 'receipts', log_origin: null },
      ...{ valid_from: '2020-01-01T00:00:00.000Z', valid_until: null, revoked_at: this.#trust.revokedAt },
    };
    const list = {
      ...{ type: 'countersign.trust.v1', version: this.#trust.version, previous_hash: digest },
      ...{ issued_at: '2020-01-01T00:00:00.000Z', keys: [key] },
    };
    const value = encodeBase64Url(root.sign(canonicalBytes(list)));
    return { list, signature: { alg: 'Ed25519', key_id: root.keyId, value } };
  }

  #answer({ pathname, searchParams }: URL): object | null {
    if (pathname === '/api/v1/trust/list') return this.#trustList();
    const entries = this.#entries.get(pathname.split('/').at(-1) ?? '') ?? [];
    const limit = Number(searchParams.get('limit'));
    const from = searchParams.get('from');
    if (from === null) return { data: entries.toReversed().slice(0, limit) };
    if (limit > 1) {
      if (this.pagesLeft === 0) {
        this.refusals += 1;
        return null;
      }
      if (this.pagesLeft !== null) this.pagesLeft -= 1;
      this.reads.push(Number(from));
    }
    return { data: entries.slice(Number(from), Number(from) + limit) };
  }
}

function basePayload(ulid: string, tenant: string): Members {
  return {
    ...{ type: 'countersign.receipt.v1', receipt_id: `rcp_${ulid}`, kind: 'decision', tenant_id: tenant },
    ...{ principal_id: 'agent', session_id: 'session', decision_id: `dec_${ulid}`, record_hash: digest },
    ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', action: 'tool.call', tool: 'mail.send', resource: null },
    ...{ effect_level: 'E2', args_hash: digest, policy_hash: digest, policy_epoch: 1, shadow: false },
    prev_hash: digest,
  };
}
