import { emptyRoot, encodeBase64, formatCheckpoint, signNote } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import {
  chainOf,
  consistencyOf,
  exportOf,
  headOf,
  jwkOf,
  leafOf,
  logOrigin,
  logSigner,
  noteOver,
  proofOf,
  sign,
  strangeSigner,
  testKeys,
} from './chain-fixture.ts';
import type { Exported, Members } from './chain-fixture.ts';
import { chains, leavesOf, linesOf, periodOf, vectorOf } from './period-vectors.ts';
import type { PeriodExport } from './period-vectors.ts';
import { invalid, valid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

type Links = { checkpoints: string[]; consistency: string[][] };

/**
 * Cases of several checkpoints. Each has a valid signature, and the proofs between them show whether they belong to one
 * log.
 */
export async function checkpointVectors(): Promise<Record<string, ReceiptVector>> {
  return { ...(await linkedHeaders()), ...(await brokenLinks()), ...(await emptyLogs()), ...(await linkedEnds()) };
}

const early = { time: '2026-02-01T00:20:00.000Z' };
const begun = { time: '2026-02-01T00:00:00.000Z' };
const rivals = () => leavesOf([chainOf(3, { from: 50 })]);

/**
 * The key of the receipts was revoked, so the receipts need the early checkpoint, and the head statement needs the
 * newest.
 */
const keys = {
  keys: [...testKeys({ revoked_at: '2026-02-01T00:30:00.000Z' }).keys, jwkOf(strangeSigner, 'receipts')],
};

async function linkedHeaders(): Promise<Record<string, ReceiptVector>> {
  return {
    'valid/revoked-and-seen-early': valid(
      'A key that was revoked: the checkpoint from before proves what it signed, and the newest one extends it.',
      await seenTwice(),
      keys,
    ),
  };
}

async function brokenLinks(): Promise<Record<string, ReceiptVector>> {
  const whole = await seenTwice();
  const { checkpoints, consistency } = linksOf(whole);
  const [proof = []] = consistency;
  const { consistency: _proofs, ...proofless } = whole.header;
  const broken = (about: string, exported: Exported, keySet = keys) =>
    invalid(about, 'CONSISTENCY_UNPROVEN', exported, -2, keySet);
  const linked = (links: Partial<Links>) => ({ ...whole, header: { ...whole.header, ...links } });
  return {
    'invalid/split-view': broken(
      'Two checkpoints of two histories: the receipts stand in the one, and the head statement in the other.',
      await seenTwice(rivals()),
    ),
    'invalid/consistency-missing': broken('Nothing proves that the log only grew.', linked({ consistency: [] })),
    'invalid/consistency-changed': broken(
      'A proof between two checkpoints in which one hash is another.',
      linked({ consistency: [proof.with(1, encodeBase64(emptyRoot(nodeProvider)))] }),
    ),
    'invalid/consistency-with-one-hash-more': broken(
      'A proof between two checkpoints that goes on behind the root.',
      linked({ consistency: [[...proof, ...proof.slice(-1)]] }),
    ),
    'invalid/consistency-surplus': broken(
      'More proofs than there are pairs of checkpoints.',
      linked({ consistency: [...consistency, []] }),
    ),
    'invalid/header-without-consistency': invalid(
      'A header that has no member for the proofs.',
      'MALFORMED',
      { ...whole, header: proofless },
      -2,
      keys,
    ),
    'invalid/checkpoints-descending': broken(
      'The larger of two trees of one log stands before the smaller one.',
      linked({ checkpoints: checkpoints.toReversed() }),
    ),
    'invalid/checkpoints-of-two-logs': broken(
      'Two checkpoints of two logs, which say the same.',
      linked({ checkpoints: [noteOfAnotherLog(checkpoints), ...checkpoints.slice(1)] }),
      twoLogs(),
    ),
  };
}

/** Cases of the empty log. Every log begins empty, and consistency with the empty log needs no proof. */
async function emptyLogs(): Promise<Record<string, ReceiptVector>> {
  const whole = await exportOf([chainOf(3)]);
  const { checkpoints } = linksOf(whole);
  const text = (root = emptyRoot(nodeProvider)) => formatCheckpoint({ origin: logOrigin, size: 0, root, ...begun });
  const empty = (root?: Uint8Array) => signNote(nodeProvider, text(root), [{ name: logOrigin, signer: logSigner }]);
  const beginning = (note: string, hashes: string[] = []) => {
    return { ...whole, header: { ...whole.header, checkpoints: [note, ...checkpoints], consistency: [hashes] } };
  };
  const broken = (about: string, exported: Exported, keySet = testKeys()) =>
    invalid(about, 'CONSISTENCY_UNPROVEN', exported, -2, keySet);
  const [second = emptyRoot(nodeProvider)] = rivals();
  return {
    'valid/checkpoint-of-no-leaves': valid('A checkpoint from before the first receipt.', beginning(empty())),
    'invalid/checkpoint-of-no-leaves-with-a-root': broken(
      'A checkpoint of no leaves with a root that is not that of no leaves.',
      beginning(empty(second)),
    ),
    'invalid/checkpoint-of-no-leaves-of-another-log': broken(
      'A checkpoint of no leaves of another log, which began with the same root.',
      beginning(noteOfAnotherLog([empty()])),
      twoLogs(),
    ),
    'invalid/consistency-from-no-leaves': broken(
      'A proof where nothing is to be proven.',
      beginning(empty(), [encodeBase64(second)]),
    ),
  };
}

/** Cases of the checkpoint of a period statement, compared with the last checkpoint of the header. */
async function linkedEnds(): Promise<Record<string, ReceiptVector>> {
  const whole = await periodOf(chains());
  const leaves = leavesOf(chains());
  const stated = leafOf(whole.end.period.receipt);
  const [first = '', ...rest] = linksOf(whole).checkpoints;
  const unproven = { verdict: 'NOT_VERIFIED', code: 'CONSISTENCY_UNPROVEN', line: 6 } as const;
  const broken = (about: string, exported: PeriodExport) => vectorOf(about, linesOf(exported), unproven);
  const ending = (consistency: string[]) => ({ ...whole, end: { ...whole.end, consistency } });
  /** An export whose header has an additional checkpoint, and whose statement has a checkpoint without a proof. */
  const shown = async (more: Uint8Array[]) => {
    const header = {
      checkpoints: [first, ...rest, noteOver(more)],
      consistency: [await consistencyOf(more, leaves.length)],
    };
    return { ...ending([]), header: { ...whole.header, ...header } };
  };
  const [neighbour = stated] = rivals();
  const proof = whole.end.consistency;
  return {
    'valid/period-within-its-header': vectorOf(
      'A statement whose own checkpoint is of the same tree as the last one of the header.',
      linesOf(await shown([...leaves, stated])),
      { verdict: 'VERIFIED' },
    ),
    'invalid/period-of-a-split-view': broken(
      'A statement in another history than the receipts.',
      await statedBehind(whole, leavesOf([chainOf(6, { from: 50 })])),
    ),
    'invalid/period-consistency-missing': broken(
      'Nothing proves that the log of the statement extends that of the header.',
      ending([]),
    ),
    'invalid/period-consistency-changed': broken(
      'A proof up to the log of the statement in which one hash is another.',
      ending(proof.with(0, encodeBase64(neighbour))),
    ),
    'invalid/period-consistency-surplus': broken(
      'A proof up to the log of the statement that goes on behind the root.',
      ending([...proof, ...proof.slice(-1)]),
    ),
    'invalid/period-checkpoint-of-a-rival': broken(
      'A statement whose own checkpoint has the size of the last one of the header, and another root.',
      await shown([...leaves, neighbour]),
    ),
    'invalid/period-checkpoint-of-a-smaller-tree': broken(
      'A statement whose own checkpoint is smaller than the last one of the header.',
      await shown([...leaves, stated, neighbour]),
    ),
  };
}

/**
 * Three receipts under an early checkpoint, and a head statement that follows the leaves `before` in the log. The
 * default of `before` is the leaves of the three receipts.
 */
async function seenTwice(before?: Uint8Array[]): Promise<Exported> {
  const chain = chainOf(3);
  const ended = headOf(chain);
  const head = sign(ended.receipt.payload, strangeSigner);
  const seen = await exportOf([chain], { heads: false, ...early });
  const leaves = [...(before ?? leavesOf([chain])), leafOf(head)];
  const checkpoints = [...linksOf(seen).checkpoints, noteOver(leaves)];
  return {
    header: { ...seen.header, checkpoints, consistency: [await consistencyOf(leaves, 3)] },
    heads: [{ head: { receipt: head, record: ended.record, proof: await proofOf(3, leaves) } }],
    receipts: seen.receipts,
  };
}

async function statedBehind({ header, receipts, end }: PeriodExport, before: Uint8Array[]): Promise<PeriodExport> {
  const leaves = [...before, leafOf(end.period.receipt)];
  const period = { ...end.period, proof: await proofOf(before.length, leaves) };
  return {
    ...{ header, receipts },
    end: { period, checkpoint: noteOver(leaves), consistency: await consistencyOf(leaves, before.length) },
  };
}

const anotherOrigin = 'log.example.org/another';
const twoLogs = () => ({
  keys: [...testKeys().keys, { ...jwkOf(strangeSigner, 'log'), log_origin: anotherOrigin }],
});

/** The tree of the first of these notes, under another log name. */
function noteOfAnotherLog([note = '']: readonly string[]): string {
  const [, ...lines] = note.slice(0, note.indexOf('\n\n') + 1).split('\n');
  const text = [anotherOrigin, ...lines].join('\n');
  return signNote(nodeProvider, text, [{ name: anotherOrigin, signer: strangeSigner }]);
}

function linksOf({ header }: { header: Members }): Links {
  return header as unknown as Links; // exportOf and periodOf make this structure
}
