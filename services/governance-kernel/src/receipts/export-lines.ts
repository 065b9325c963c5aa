import { setImmediate } from 'node:timers/promises';
import type { ExportedProof, ExportHeader, Signature } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import { signatureText } from '@countersign/receipts';
import type { SealedEntry } from '../ledger/statement.ts';
import { provenIncluded } from '../proof/log-proofs.ts';
import type { Witnesses } from '../proof/witnesses.ts';
import type { ChainLink } from '../store/chain-store.ts';

type ExportParts = {
  provider: CryptoProvider;
  /** A reader for one page: it remembers what it read. */
  newReader(): NodeReader;
  witnesses: Witnesses;
  head: { entry: SealedEntry; logIndex: number };
  /** The links from this place on, at most `limit` of them. */
  listPage(from: number, limit: number): Promise<ChainLink[]>;
};

/** A page costs some thousand hashes at worst, which hold up decisions for a few milliseconds. */
const pageLinks = 16;

/** What `countersign-verify` reads, line by line: never more than a page in memory, and decisions are made between two pages. */
export async function* exportLines(
  parts: ExportParts,
  { from, to }: { from: number; to: number },
): AsyncGenerator<string> {
  const { head, witnesses } = parts;
  const header: ExportHeader = { format: 'countersign/chain-export.v2', checkpoints: witnesses.notes };
  yield `${JSON.stringify(header)}\n`;
  const { payloadText: payload, signature, recordText: record } = head.entry;
  const proof = await prove(parts, parts.newReader(), { logIndex: head.logIndex, keyId: signature.key_id });
  yield `{"head":${lineOf({ payload, signature, record }, proof)}}\n`;
  for (let next = from; next <= to;) {
    const links = await parts.listPage(next, Math.min(pageLinks, to - next + 1));
    const last = links.at(-1);
    if (last === undefined || links[0]?.lamport !== next) throw new Error('The ledger lacks links of this chain');
    const reader = parts.newReader();
    const proofs = await Promise.all(links.map((link) => prove(parts, reader, link)));
    yield links.map((link, at) => `${lineOf(textsOf(link), proofs[at])}\n`).join('');
    next = last.lamport + 1;
    await setImmediate();
  }
}

async function prove(
  { provider, witnesses }: ExportParts,
  reader: NodeReader,
  { logIndex, keyId }: { logIndex: number; keyId: string },
): Promise<ExportedProof> {
  const size = witnesses.sizeFor(keyId, logIndex);
  const hashes = await provenIncluded(provider, reader, { index: logIndex, size });
  return { log_index: logIndex, tree_size: size, hashes };
}

type LinkTexts = { payload: string; signature: Signature; record: string | null };

function textsOf({ payload, keyId, signature, record }: ChainLink): LinkTexts {
  return { payload, signature: { alg: 'Ed25519', key_id: keyId, value: signature }, record };
}

/** From the texts that were signed and hashed. */
function lineOf({ payload, signature, record }: LinkTexts, proof: ExportedProof | undefined): string {
  const recordMember = record === null ? '' : `,"record":${record}`;
  return `{"receipt":{"payload":${payload},"signature":${signatureText(signature)}}${recordMember},"proof":${JSON.stringify(proof)}}`;
}
