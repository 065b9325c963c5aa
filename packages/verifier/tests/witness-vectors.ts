import { cosignerKey, cosignNote, decodeHex, formatCosignerVkey, formatVkey, noteKey } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { consistencyOf, logOrigin, logSigner, noteOver, strangeSigner, testKeys } from './chain-fixture.ts';
import { chains, leavesOf, linesOf, periodOf } from './period-vectors.ts';
import type { PeriodExport } from './period-vectors.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const at = (time: string) => `2026-02-01T${time}.000Z`;
const witnesses = ['11', '22', '33'].map((byte, index) => ({
  name: `witness.example.org/w${index + 1}`,
  signer: createSigner(decodeHex(byte.repeat(32))),
}));

/** `W1 00:21:00`: the first witness cosigned at that time. */
type Cosigning = `W${1 | 2 | 3} ${string}`;
type Cosigned = { before?: Cosigning[]; header?: Cosigning[]; end?: Cosigning[] };

const witnessLines = witnesses.map(({ name, signer }, index) => {
  const key = cosignerKey(nodeProvider, name, signer.publicKey);
  return `witness W${index + 1} ${formatCosignerVkey(key)} https://${name}`;
});
const logLine = (signer = logSigner) => `log ${formatVkey(noteKey(nodeProvider, logOrigin, signer.publicKey))}`;
const policyOf = (...lines: string[]) =>
  ['# Who has to see the log.', logLine(), ...witnessLines, ...lines, ''].join('\n');
const twoOfThree = policyOf('group two 2 W1 W2 W3', 'quorum two');

/**
 * Exports of a period, with a checkpoint from before the period that contains none of its receipts. The trusted
 * policies have three witnesses.
 */
export async function witnessVectors(): Promise<Record<string, ReceiptVector>> {
  return { ...(await witnessed()), ...(await notWitnessed()), ...(await contradicted()) };
}

async function witnessed(): Promise<Record<string, ReceiptVector>> {
  const timed = async (
    about: string,
    cosigned: Cosigned,
    policy: string,
    bounds: { after: string | null; by: string },
  ) =>
    vectorOf(about, linesOf(await cosignedPeriod(cosigned)), policy, {
      ...{ verdict: 'VERIFIED', time: 'WITNESSED' },
      witnessed: { after: bounds.after === null ? null : at(bounds.after), by: at(bounds.by) },
    });
  const strangers = await cosignedPeriod({ header: ['W1 00:21:00', 'W1 00:25:00'] });
  const [before = '', header = ''] = checkpointsOf(strangers);
  const unknown = `— witness.example.org/stranger ${header.trim().split(' ').at(-1) ?? ''}\n`;
  return {
    'valid/cosigned-by-a-group': await timed(
      'Two of three witnesses cosigned the log before the receipts and behind them. The later of the two completes each quorum.',
      { before: ['W1 00:05:00', 'W2 00:06:00'], header: ['W2 00:22:00', 'W1 00:21:00'] },
      twoOfThree,
      { after: '00:06:00', by: '00:22:00' },
    ),
    'valid/cosigned-by-any-group': await timed(
      'A quorum of groups in a group: the first one that is complete counts.',
      { before: ['W3 00:05:00'], header: ['W1 00:21:00', 'W2 00:22:00', 'W3 00:23:00'] },
      policyOf('group both all W1 W2', 'group either any both W3', 'quorum either'),
      { after: '00:05:00', by: '00:22:00' },
    ),
    'valid/cosigned-by-later-checkpoint': await timed(
      'Only the checkpoint of the last line is cosigned. It has the receipts too.',
      { end: ['W1 01:00:30', 'W2 01:00:31'] },
      twoOfThree,
      { after: null, by: '01:00:31' },
    ),
    'valid/cosigned-before-and-late': await timed(
      'The checkpoint without the receipts was cosigned after the one with them, by another witness. It bounds nothing.',
      { before: ['W2 00:40:00'], header: ['W1 00:21:00'] },
      policyOf('group any-of any W1 W2 W3', 'quorum any-of'),
      { after: null, by: '00:21:00' },
    ),
    'valid/cosigned-with-strangers': vectorOf(
      'A cosignature of an unknown witness is not read, and of one witness the first counts.',
      linesOf(withCheckpoints(strangers, [before, `${header}${unknown}`])),
      policyOf('quorum W1'),
      { verdict: 'VERIFIED', time: 'WITNESSED', witnessed: { after: null, by: at('00:21:00') } },
    ),
  };
}

async function notWitnessed(): Promise<Record<string, ReceiptVector>> {
  const missing = ['no checkpoint that has every receipt has the cosignatures that the policy asks for'];
  const both: Cosigned = { before: ['W1 00:05:00', 'W2 00:06:00'], header: ['W1 00:21:00'] };
  const logged = async (about: string, policy: string, cosigned = both) =>
    vectorOf(about, linesOf(await cosignedPeriod(cosigned)), policy, {
      ...{ verdict: 'INCOMPLETE', time: 'LOGGED', missing },
    });
  const anotherLog = [logLine(strangeSigner), ...witnessLines, 'quorum W1', ''].join('\n');
  return {
    'incomplete/cosigned-by-all-but-one': await logged('One of the two witnesses that the quorum needs.', twoOfThree),
    'incomplete/cosigned-by-another-policy': await logged('The policy lists another key of the log.', anotherLog),
    'valid/cosigned-by-any-without-a-quorum': vectorOf(
      'A policy that asks for no cosignature.',
      linesOf(await cosignedPeriod(both)),
      policyOf('quorum none'),
      { verdict: 'VERIFIED', time: 'LOGGED' },
    ),
  };
}

async function contradicted(): Promise<Record<string, ReceiptVector>> {
  const broken = async (about: string, code: string, cosigned: Cosigned) =>
    vectorOf(about, linesOf(await cosignedPeriod(cosigned)), twoOfThree, { verdict: 'NOT_VERIFIED', code, line: 1 });
  const whole = await cosignedPeriod({});
  const [before = '', header = ''] = checkpointsOf(whole);
  const moved = cosigned(before, ['W1 00:21:00']).slice(before.length);
  return {
    'invalid/cosigned-falsely': vectorOf(
      'The cosignature of another checkpoint.',
      linesOf(withCheckpoints(whole, [before, `${header}${moved}`])),
      twoOfThree,
      { verdict: 'NOT_VERIFIED', code: 'CHECKPOINT_INVALID', line: 1 },
    ),
    'invalid/cosigned-before-its-checkpoint': await broken(
      'A witness saw a checkpoint more than a minute before the log says that it signed it.',
      'TIME_MISMATCH',
      { header: ['W1 00:18:59'] },
    ),
    'invalid/cosigned-backwards': await broken(
      'A witness cosigned the larger tree before the smaller one.',
      'TIME_MISMATCH',
      { before: ['W1 00:30:00'], header: ['W1 00:21:00'] },
    ),
  };
}

async function cosignedPeriod({ before = [], header = [], end = [] }: Cosigned): Promise<PeriodExport> {
  const whole = await periodOf(chains());
  const leaves = leavesOf(chains());
  const [own = ''] = checkpointsOf(whole);
  const early = noteOver(leaves.slice(0, 1), { time: at('00:00:02') });
  const linked = withCheckpoints(whole, [cosigned(early, before), cosigned(own, header)]);
  return {
    ...{ header: { ...linked.header, consistency: [await consistencyOf(leaves, 1)] }, receipts: whole.receipts },
    end: { ...whole.end, checkpoint: cosigned(whole.end.checkpoint, end) },
  };
}

function cosigned(note: string, cosignings: Cosigning[]): string {
  const lines = cosignings.map((cosigning) => {
    const [name = '', time = ''] = cosigning.split(' ');
    const witness = witnesses[Number(name.slice(1)) - 1];
    if (witness === undefined) throw new Error(`There is no witness ${name}`);
    return cosignNote(nodeProvider, note, { ...witness, seconds: Date.parse(at(time)) / 1_000 });
  });
  return `${note}${lines.join('')}`;
}

function checkpointsOf({ header }: PeriodExport): string[] {
  return header['checkpoints'] as string[]; // as periodOf makes them
}

function withCheckpoints(exported: PeriodExport, checkpoints: string[]): PeriodExport {
  return { ...exported, header: { ...exported.header, checkpoints } };
}

function vectorOf(about: string, lines: unknown[], policy: string, expect: ReceiptVector['expect']): ReceiptVector {
  return { about, keys: testKeys(), policy, export: lines.map((line) => JSON.stringify(line)), expect };
}
