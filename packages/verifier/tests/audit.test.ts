import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { auditHash, AuditVerification } from '../src/index.ts';
import { describeAudit } from '../src/describe-audit.ts';
import { lineBytesMax } from '../src/read-lines.ts';

type Entry = Record<string, unknown> & { hash: string };
const at = '2026-11-22T10:00:00.000Z';
const workspaceId = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const person = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const beside = { action: 'task.created', actor: 'ada', verdict: 'allow', reason: 'ok', subject: null, details: {} };

const sealed = (content: Record<string, unknown>): Entry => ({
  ...content,
  hash: auditHash(nodeProvider, content as never), // plain JSON
});

/** An entry in the log of a workspace, as the gateway writes it. */
const ofWorkspace = (seq: number, prevHash: string | null, changes: object = {}): Entry =>
  sealed({ id: `aud_${seq}`, ...beside, workspaceId, requestId: null, createdAt: at, seq, prevHash, ...changes });
/** An entry in the log of a person, as the control plane writes it. */
const ofPerson = (seq: number, prev_hash: string | null, changes: object = {}): Entry =>
  sealed({ id: `aud_${seq}`, ...beside, scope: person, request_id: null, created_at: at, seq, prev_hash, ...changes });

const header = { format: 'countersign/audit-export.v1', workspaceId, exportedAt: at };
const first = ofWorkspace(1, null);
const second = ofWorkspace(2, first.hash);
const endOf = ({ seq, hash }: Entry) => ({ end: { seq, hash } });
const whole = [header, first, second, endOf(second)];

function read(lines: unknown[], options: { workspace?: string; heads?: string[] } = {}) {
  const reading = new AuditVerification({ provider: nodeProvider, ...options });
  for (const line of lines) reading.take(JSON.stringify(line));
  return reading.report();
}

describe('an audit log', () => {
  it.each<[string, string, unknown[]]>([
    ['workspace', workspaceId, whole],
    [
      'person',
      person,
      [
        { format: 'countersign/audit-export.v2', scope: person, exported_at: at },
        ...[ofPerson(1, null), ofPerson(2, ofPerson(1, null).hash)],
        endOf(ofPerson(2, ofPerson(1, null).hash)),
      ],
    ],
  ])('of a %s verifies completely, and its owner is reported', (who, scope, lines) => {
    const report = read(lines, { workspace: scope });
    const { hash } = lines[2] as Entry; // the third line is an entry
    expect(report).toEqual({
      ...{ verdict: 'VERIFIED', workspace: scope, entries: 2, head: hash, missing: [], fault: null },
    });
    expect(describeAudit(report)).toBe(`VERIFIED: 2 entries\n  ${who.padEnd(14)}${scope}\n  head          ${hash}\n`);
  });

  const another = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAZ';
  it.each<[string, unknown[], string, number, string]>([
    ['a changed entry', [header, { ...first, actor: 'bob' }], 'HASH_MISMATCH', 2, 'the hash of entry 1 does not match'],
    ['a removed entry', [header, second], 'CHAIN_GAP', 2, 'entry 1 is missing: entry 2 follows'],
    ['a repeated entry', [header, first, first], 'CHAIN_GAP', 3, 'entry 2 is missing: entry 1 follows'],
    ['a first entry with a previous hash', [header, ofWorkspace(1, second.hash)], 'PREV_HASH_MISMATCH', 2, 'entry 1'],
    [
      'a second entry without a previous hash',
      [header, first, ofWorkspace(2, null)],
      'PREV_HASH_MISMATCH',
      3,
      'entry 2',
    ],
    [
      'an entry of another workspace',
      [header, ofWorkspace(1, null, { workspaceId: another })],
      'SUBJECT_MISMATCH',
      2,
      another,
    ],
    [
      'an end before the last entry',
      [header, first, second, endOf(first)],
      'HEAD_MISMATCH',
      4,
      'the last entry is 2, but the log must end with the stated entry 1 and its hash',
    ],
    [
      'an end with another hash',
      [header, first, { end: { seq: 1, hash: second.hash } }],
      'HEAD_MISMATCH',
      3,
      'must end with the stated entry 1',
    ],
    ['an unknown member in the end', [header, first, { ...endOf(first), more: 1 }], 'MALFORMED', 3, 'end'],
    ['an unknown member in an entry', [header, { ...first, more: 1 }], 'MALFORMED', 2, 'entry'],
    ['a header of another format', [{ ...header, format: 'x' }, first], 'MALFORMED', 1, 'header'],
    ['null as its header', [null], 'MALFORMED', 1, 'header'],
    ['null as an entry', [header, null], 'MALFORMED', 2, 'entry'],
    ['a second end', [...whole, endOf(second)], 'MALFORMED', 5, 'an entry follows the end of the log'],
    ['an entry after the end', [...whole, second], 'MALFORMED', 5, 'an entry follows the end of the log'],
  ])('with %s is not verified', (_what, lines, code, line, words) => {
    const report = read([...lines, first]);
    expect(report).toMatchObject({ verdict: 'NOT_VERIFIED', fault: { code, line } });
    expect(report.fault?.message).toContain(words);
    expect(describeAudit(report).split('\n')[0]).toBe(`NOT_VERIFIED: ${code}: ${report.fault?.message} (line ${line})`);
  });

  it('is read only up to its first fault', () => {
    const reading = new AuditVerification({ provider: nodeProvider });
    expect([header, first, {}, second].map((line) => reading.take(JSON.stringify(line)))).toEqual([
      ...[true, true, false, false],
    ]);
    reading.refuseLine();
    expect(reading.report()).toMatchObject({ entries: 1, head: first.hash, fault: { code: 'MALFORMED', line: 3 } });
  });

  it('is undecidable after a line that is too long', () => {
    const reading = new AuditVerification({ provider: nodeProvider });
    reading.take(JSON.stringify(header));
    reading.refuseLine();
    const message = `a line has more than ${lineBytesMax} bytes`;
    expect(reading.report()).toMatchObject({ verdict: 'UNDECIDABLE', fault: { code: 'TOO_LARGE', line: 2, message } });
  });

  it('proves nothing without entries, like an export without receipts', () => {
    const empty = { verdict: 'NOT_VERIFIED', fault: { code: 'EMPTY', line: 0 }, entries: 0, head: null };
    for (const lines of [[], [header], [header, { end: { seq: 0, hash: null } }]])
      expect(read(lines)).toMatchObject(empty);
    expect(describeAudit(read([]))).toBe(
      [
        'NOT_VERIFIED: EMPTY: the log has no entries',
        '  workspace     not named',
        '  head          none',
        '    missing: the end of the log',
        '',
      ].join('\n'),
    );
  });

  it('is incomplete without its end, or without an entry that the caller noted', () => {
    const open = read([header, first]);
    expect(open).toMatchObject({ verdict: 'INCOMPLETE', entries: 1, missing: ['the end of the log'], fault: null });
    const noted = read(whole, { heads: [first.hash, 'sha256:0', second.hash, 'sha256:1'] });
    expect(noted).toMatchObject({ verdict: 'INCOMPLETE', missing: ['the entry sha256:0', 'the entry sha256:1'] });
    expect(describeAudit(noted)).toContain('\n    missing: the entry sha256:0\n    missing: the entry sha256:1\n');
  });

  it('is refused if it belongs to another owner', () => {
    expect(read(whole, { workspace: another })).toMatchObject({
      ...{ verdict: 'NOT_VERIFIED', workspace: null, entries: 0 },
      fault: { code: 'SUBJECT_MISMATCH', line: 1, message: `the log belongs to ${workspaceId}` },
    });
  });

  it('is described without control characters', () => {
    const fault = { code: 'MALFORMED', message: 'a\u001b[2Jb\nc', line: 1 } as const;
    expect(describeAudit({ ...read([]), fault }).split('\n')[0]).not.toContain('\u001b');
  });
});
