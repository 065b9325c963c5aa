import type { ExportedProof, Signature } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import { signatureText } from '@countersign/receipts';
import type { SealedEntry } from '../ledger/statement.ts';
import { provenIncluded } from '../proof/log-proofs.ts';
import { signersOf, type Witnesses } from '../proof/witnesses.ts';
import type { ChainLink } from '../store/chain-link.ts';

export type ProofParts = {
  provider: CryptoProvider;
  /** A reader for one page: it remembers what it read. */
  newReader(): NodeReader;
  witnesses: Pick<Witnesses, 'sizeFor'>;
};

/** A page costs some thousand hashes at worst, which hold up decisions for a few milliseconds. */
export const pageLinks = 16;

/** The exported lines of each of these links, from the texts that were signed and hashed; without line feeds. */
export function provenLines(parts: ProofParts, links: readonly LinkTexts[]): Promise<string[]> {
  const reader = parts.newReader();
  return Promise.all(links.map(async (link) => lineOf(link, await prove(parts, reader, link))));
}

/** The same in canonical JSON, as lines of a pack. */
export function canonicalLines(parts: ProofParts, links: readonly LinkTexts[]): Promise<string[]> {
  const reader = parts.newReader();
  return Promise.all(links.map(async (link) => canonicalLineOf(link, await prove(parts, reader, link))));
}

/** The same of what was sealed just now. */
export async function provenLine(parts: ProofParts, sealed: { entry: SealedEntry; logIndex: number }): Promise<string> {
  const [line = ''] = await provenLines(parts, [linkOfSealed(sealed)]);
  return line;
}

export function linkOfSealed({ entry, logIndex }: { entry: SealedEntry; logIndex: number }): LinkTexts {
  const { payloadText: payload, signature, recordText: record } = entry;
  return { payload, record, keyId: signature.key_id, signature: signature.value, logIndex };
}

export type LinkTexts = Pick<ChainLink, 'payload' | 'keyId' | 'signature' | 'record' | 'logIndex'>;

async function prove(
  { provider, witnesses }: ProofParts,
  reader: NodeReader,
  { logIndex, keyId, record }: LinkTexts,
): Promise<ExportedProof> {
  const size = witnesses.sizeFor(signersOf(keyId, ofPolicy(record)), logIndex);
  const hashes = await provenIncluded(provider, reader, { index: logIndex, size });
  return { log_index: logIndex, tree_size: size, hashes };
}

/** Few records are read again: only those of policies rest on another key. */
function ofPolicy(record: string | null): unknown {
  return record?.includes('"kind":"policy"') === true ? JSON.parse(record) : null;
}

function lineOf(link: LinkTexts, proof: ExportedProof): string {
  return `{${membersOf(link)},"proof":${JSON.stringify(proof)}}`;
}

/** Payload, signature and record are canonical as they were sealed, so only the order of members differs. */
function canonicalLineOf(link: LinkTexts, { hashes, log_index, tree_size }: ExportedProof): string {
  return `{"proof":${JSON.stringify({ hashes, log_index, tree_size })},${membersOf(link)}}`;
}

function membersOf({ payload, keyId, signature, record }: LinkTexts): string {
  const signed: Signature = { alg: 'Ed25519', key_id: keyId, value: signature };
  const recordMember = record === null ? '' : `,"record":${record}`;
  return `"receipt":{"payload":${payload},"signature":${signatureText(signed)}}${recordMember}`;
}
