import type { ExportedProof, Signature } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import { signatureText } from '@countersign/receipts';
import type { SealedEntry } from '../../ledger/statement.ts';
import { provenIncluded } from '../proof/log-proofs.ts';
import { signersOf, type Witnesses } from '../proof/witnesses.ts';
import type { ChainLink } from '../../store/chain-link.ts';

export type ProofDeps = {
  provider: CryptoProvider;
  /** Makes a reader for one page. */
  newReader(): NodeReader;
  witnesses: Pick<Witnesses, 'sizeFor'>;
};

/** A page costs at most a few thousand hashes, which delay decisions for a few milliseconds. */
export const pageLinks = 16;

/** The exported lines of these links, from the signed and hashed texts, without line feeds. */
export function provenLines(deps: ProofDeps, links: readonly LinkTexts[]): Promise<string[]> {
  const reader = deps.newReader();
  return Promise.all(links.map(async (link) => lineOf(link, await prove(deps, reader, link))));
}

/** The lines in canonical JSON, for a pack. */
export function canonicalLines(deps: ProofDeps, links: readonly LinkTexts[]): Promise<string[]> {
  const reader = deps.newReader();
  return Promise.all(links.map(async (link) => canonicalLineOf(link, await prove(deps, reader, link))));
}

/** The line of an entry that was just sealed. */
export async function provenLine(deps: ProofDeps, sealed: { entry: SealedEntry; logIndex: number }): Promise<string> {
  const [line = ''] = await provenLines(deps, [linkOfSealed(sealed)]);
  return line;
}

export function linkOfSealed({ entry, logIndex }: { entry: SealedEntry; logIndex: number }): LinkTexts {
  const { payloadText: payload, signature, recordText: record } = entry;
  return { payload, record, keyId: signature.key_id, signature: signature.value, logIndex };
}

export type LinkTexts = Pick<ChainLink, 'payload' | 'keyId' | 'signature' | 'record' | 'logIndex'>;

async function prove(
  { provider, witnesses }: ProofDeps,
  reader: NodeReader,
  { logIndex, keyId, record }: LinkTexts,
): Promise<ExportedProof> {
  const size = witnesses.sizeFor(signersOf(keyId, ofPolicy(record)), logIndex);
  const hashes = await provenIncluded(provider, reader, { index: logIndex, size });
  return { log_index: logIndex, tree_size: size, hashes };
}

/** The parsed record, if it is a policy record. Only these contain a signature of another key. */
function ofPolicy(record: string | null): unknown {
  return record?.includes('"kind":"policy"') === true ? JSON.parse(record) : null;
}

function lineOf(link: LinkTexts, proof: ExportedProof): string {
  return `{${membersOf(link)},"proof":${JSON.stringify(proof)}}`;
}

/** Payload, signature and record are canonical as sealed, so only the order of the members differs from `lineOf`. */
function canonicalLineOf(link: LinkTexts, { hashes, log_index, tree_size }: ExportedProof): string {
  return `{"proof":${JSON.stringify({ hashes, log_index, tree_size })},${membersOf(link)}}`;
}

function membersOf({ payload, keyId, signature, record }: LinkTexts): string {
  const signed: Signature = { alg: 'Ed25519', key_id: keyId, value: signature };
  const recordMember = record === null ? '' : `,"record":${record}`;
  return `"receipt":{"payload":${payload},"signature":${signatureText(signed)}}${recordMember}`;
}
