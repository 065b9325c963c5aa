import type { Digest, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { AppError } from '@countersign/contracts';
import type { CompletedNode, NodeReader } from '@countersign/crypto';
import { decodeBase64Url, emptyFrontier, encodeHex, frontierRoot, utf8Bytes } from '@countersign/crypto';
import { sealRecord } from '@countersign/receipts';
import type { NativeSource } from '../controls/evidence/evidence-envelopes.ts';
import { grown } from '../ledger/log-tree.ts';
import { createLogReader } from '../evidence/proof/log-reader.ts';
import { sealExport } from '../evidence/proof/seal-export.ts';
import { findWitnesses } from '../evidence/proof/witnesses.ts';
import { exportLines } from '../evidence/receipts/export-lines.ts';
import type { LogEntry, RegistryState } from './registry-file/registry-state.ts';
import type { ChainLink } from '../store/chain-link.ts';
import { receiptOf } from './file-reads.ts';
import type { Core } from './open-core.ts';
import { sealedRecord } from '../ledger/sealed-text.ts';

type Exporter = { tenant: TenantId; by: PrincipalId };

/** Seals the end of a session, and returns its chain in the form that `countersign verify` reads. Throws NOT_FOUND. */
export async function exportSession(
  core: Core,
  { tenant, by }: Exporter,
  session: SessionId,
): Promise<AsyncGenerator<string>> {
  const links = linksOf((await core.file.read()).log, { tenant, session });
  const [first, last] = [links[0], links.at(-1)];
  if (first === undefined || last === undefined)
    throw new AppError('NOT_FOUND', 'The tenant has no session with this ID', { param: 'session_id' });
  const as_of = new Date(core.clock()).toISOString();
  const facts = { session_id: session, lamport_clock: last.lamport, receipt_hash: last.receiptHash, as_of } as never; // toISOString writes the form of as_of
  const head = await sealExport(core, { tenant, by, statement: { kind: 'head', facts } });
  const newest = await core.heads.getCovering(head.logIndex);
  const before = await core.heads.findUpTo(first.logIndex);
  const { findBefore } = core.heads;
  // Keys of a registry file are never revoked, so no earlier checkpoint is needed.
  const lookup = { newest, before, cosigned: null, findBefore, hasSigned: async () => false };
  const witnesses = await findWitnesses(core.trustKeys, lookup);
  const { log } = await core.file.read();
  const newReader = () => fileLogReader(core, log);
  const listPage = async (from: number, limit: number) =>
    links.filter(({ lamport }) => lamport >= from).slice(0, limit);
  return exportLines({ provider: core.provider, newReader, witnesses, head, listPage }, { from: 1, to: last.lamport });
}

function linksOf(log: readonly LogEntry[], { tenant, session }: { tenant: TenantId; session: SessionId }): ChainLink[] {
  return log.flatMap(({ content, payload, receipt_hash, key_id, signature, record }, logIndex) =>
    content.tenant_id !== tenant || content.session_id !== session
      ? []
      : [
          {
            ...{ session, logIndex, lamport: content.lamport_clock, receiptHash: receipt_hash },
            ...{ payload, keyId: key_id, signature, record },
          },
        ],
  );
}

/** The tree is computed from the receipts each time, since a local log is small. */
function fileLogReader({ provider }: Core, log: readonly LogEntry[]): NodeReader {
  const hashes = log.map(({ receipt_hash: hash }) => hash);
  let nodes: readonly CompletedNode[] | null = null;
  const allNodes = () => (nodes ??= grown(provider, emptyFrontier, hashes).nodes);
  return createLogReader(provider, {
    listNodes: async (keys) =>
      allNodes().filter(({ level, index }) => keys.some((key) => key.level === level && key.index === index)),
    listLeaves: async (starts, width) =>
      starts.flatMap((start) =>
        hashes.slice(start, start + width).map((receiptHash, nth) => ({ index: start + nth, receiptHash })),
      ),
  });
}

/** The tenant's receipt with this hash. */
export async function findNative({ file }: Core, tenant: TenantId, hash: Digest): Promise<NativeSource | null> {
  const { log } = await file.read();
  const logIndex = log.findIndex((entry) => entry.receipt_hash === hash && entry.content.tenant_id === tenant);
  const item = log[logIndex];
  return item === undefined ? null : { kind: 'receipt', receipt: receiptOf({ logIndex, item }) };
}

type RegistryReport = { receipts: number; records: number; checkpoints: number; problems: string[] };

/**
 * Verifies each receipt and record of the file and each checkpoint. Reading the file has already checked its form, the
 * hashes of receipts and the order of sessions.
 */
export async function verifyRegistry(core: Core): Promise<RegistryReport> {
  const state = await core.file.read();
  const { log, checkpoints } = state;
  const problems = [...log.flatMap((entry, place) => entryProblems(core, entry, place)), ...headProblems(core, state)];
  const records = log.filter(({ record }) => record !== null).length;
  return { receipts: log.length, records, checkpoints: checkpoints.length, problems };
}

function entryProblems({ provider, signers }: Core, entry: LogEntry, place: number): string[] {
  const { payload, key_id: keyId, signature, record, content } = entry;
  const { publicKey, keyId: ownKeyId } = signers.receipts;
  const isSigned =
    keyId === ownKeyId && provider.verifyEd25519(publicKey, utf8Bytes(payload), decodeBase64Url(signature));
  const isRecorded = record === null || sealRecord(provider, sealedRecord(record)).hash === content.record_hash;
  return [
    ...(isSigned ? [] : [`ledger.${place}: the receipt is not signed by the key of this file`]),
    ...(isRecorded ? [] : [`ledger.${place}: the record is not the record that the receipt names`]),
  ];
}

function headProblems({ heads, provider }: Core, { log, checkpoints }: RegistryState): string[] {
  return checkpoints.flatMap((head, place) => {
    const hashes = log.slice(0, head.tree_size).map(({ receipt_hash: hash }) => hash);
    const { frontier } = grown(provider, emptyFrontier, hashes);
    const isOfTree = `sha256:${encodeHex(frontierRoot(provider, frontier))}` === head.root_hash;
    return [
      ...(heads.isCounted(head) ? [] : [`checkpoints.${place}: the note is not signed by the key of this file`]),
      ...(isOfTree ? [] : [`checkpoints.${place}: the root is not the root of the receipts`]),
    ];
  });
}
