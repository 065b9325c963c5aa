import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import type { ApprovalRow } from '../src/controls/approvals/approval-row.ts';
import { argsCipher } from '../src/controls/approvals/args-cipher.ts';
import { askBeforehand } from '../src/controls/approvals/ask-beforehand.ts';
import { withCeremonyHash } from '../src/controls/approvals/ceremony.ts';
import { put, type Change } from '../src/ledger/control.ts';
import { policyHeads } from '../src/controls/policy/policy-heads.ts';
import { relationHeads } from '../src/controls/relations/relation-heads.ts';
import { digest, nowMs } from './_approval-row.ts';
import { callOf } from './_batch.ts';
import { ledgerOver, refusalTo, ulid } from './_ledger.ts';

const bundle = {
  ...{ format: 'countersign/policy.v1', name: 'asked', version: '1' },
  relations: { viewer: { object: 'tenant:{tenant}', relation: 'viewer', subject: 'agent:{principal}' } },
  rules: [
    { id: 'looks', effect: 'escalate', match: { tool: ['files.*'] }, when: 'relations.viewer' },
    { id: 'rest', effect: 'escalate', match: { tool: ['mail.*'] } },
  ],
  tools: { 'mail.send': { effect_level: 'E3' } },
};
const policy = compilePolicy(parsePolicyBundle(JSON.stringify(bundle)), nodeProvider);
const loaded = (epoch: number) => ({ policy, hash: digest('d'), epoch });
const head = (tenant: string, epoch: number) => put(policyHeads, { tenant, epoch, hash: digest('d') } as never);
const relations = (letter: string) => put(relationHeads, { tenant: 'acme', hash: digest(letter) } as never);

const cipher = argsCipher('a secret of thirty-two characters');
const mail = { tool: 'mail.send', resource: 'mail:ada', args: { to: 'ada' } } as const;
const wording = {
  ...{ reason: 'monthly', quorum: 2, approvers: ['bob', 'ann', 'bob'], scope: 'uses:3' },
  ...{ timelockSeconds: 60, expiresInSeconds: 900 },
};
type Site = {
  current?: (ReturnType<typeof loaded> | null)[];
  relations?: object[];
  rows?: Change[];
  resolution?: object;
};

/** The result of a request for an approval. Each reload gives the kernel the next entry of `current` or `relations`. */
async function ask(
  call: object = mail,
  { current = [loaded(7)], relations: reserved = [], rows, resolution }: Site = {},
) {
  const { parts, written } = ledgerOver(nowMs, ...(rows ?? [head('acme', 7)]));
  const { ledger, clock, newUlid, newEvent } = parts;
  const messages: string[] = [];
  const reload = (what: string, remaining: unknown[]) => (tenant: string) => {
    messages.push(`${what} ${tenant}`);
    if (remaining.length > 1) remaining.shift();
    return Promise.resolve();
  };
  const resolve = (name: string) => {
    messages.push(`tool ${name}`);
    return resolution === undefined ? null : Promise.resolve(resolution);
  };
  const asking = askBeforehand(
    {
      ...{ ledger, clock, newUlid, settings: { argsCipher: cipher, newEvent } },
      policies: { current: () => current[0] ?? null, reload: reload('policy', current) },
      relations: { snapshot: () => Promise.resolve(reserved[0]), reload: reload('relations', reserved) },
      tools: { resolve },
      hasher: { provider: nodeProvider, saltOf: () => new Uint8Array(32) },
    } as never, // only the members that askBeforehand reads
    { call: callOf({}, call), ...wording } as never,
  );
  const answer = await asking.then(
    (row) => ({ row, refused: null }),
    async (error: unknown) => ({ row: null, refused: await refusalTo(Promise.reject(error as Error)) }),
  );
  return { ...answer, told: messages, written: written() };
}

describe('an approval that is requested beforehand', () => {
  it('covers the described call under the current policy, and contains the reason of the requester', async () => {
    const { row, told } = await ask();
    const { argsEncrypted, ceremonyHash, argsHash, intentHash, judgedHash, ...rest } = row as ApprovalRow;
    expect(rest).toEqual({
      ...{ id: `apr_${ulid}`, tenant: 'acme', requestedBy: 'agent', session: 'session', action: 'tool.call' },
      ...{ tool: 'mail.send', resource: 'mail:ada', effectLevel: 'E3', cappedFacts: null },
      facts: { principal: 'agent', tenant: 'acme', tool: 'mail.send' },
      demand: { tool_calls: 1, spend_micros: '0', egress_bytes: 12, writes: 1 },
      ...{ state: 'pending', policyHash: digest('d'), policyEpoch: 7, receiptId: `rcp_${ulid}` },
      preconditions: { tool_definition_hash: null, budgets: null },
      ...{ reason: 'monthly', quorum: 2, approvers: ['bob', 'ann'], sponsor: null },
      ...{ approvedBy: [], approvedWith: [], approvedAs: [], approvedCredentials: [] },
      ...{ scope: 'uses:3', usesRemaining: 3, rejectionReason: null, timelockSeconds: 60, timelockUntilMs: null },
      ...{ brokenBy: null, brokenReason: null, brokenAtMs: null, brokenWith: null },
      ...{ expiresAtMs: nowMs + 900_000, createdAtMs: nowMs, updatedAtMs: nowMs },
    });
    expect(cipher.decrypt(row as ApprovalRow, argsEncrypted ?? '')).toEqual(mail.args);
    expect(ceremonyHash).toBe(withCeremonyHash(nodeProvider, row as ApprovalRow).ceremonyHash);
    expect(new Set([argsHash, intentHash, judgedHash]).size).toBe(3);
    expect(told).toEqual(['tool mail.send']);
  });

  it('is sealed with the hashes of its call, and published to its approvers', async () => {
    const { row, written } = await ask();
    const [{ records, rows, events }] = written as [(typeof written)[number]];
    expect(rows).toEqual([['approvals', row]]);
    expect(records).toMatchObject([
      {
        ...{ kind: 'approval', tenant_id: 'acme', session_id: 'session', principal_id: 'agent' },
        ...{ approval_id: row?.id, receipt_id: row?.receiptId, created_at: '2026-03-01T12:00:00.000Z' },
        ...{ policy_hash: digest('d'), policy_epoch: 7, verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' },
      },
    ]);
    expect(records[0]?.intent).toEqual({
      ...{ action: 'approval.request', tool: 'mail.send', resource: 'mail:ada', effect_level: 'E3' },
      ...{ args_hash: row?.argsHash, intent_hash: expect.any(String) },
      facts: {
        ...{ asked_intent_hash: row?.intentHash, asked_judged_hash: row?.judgedHash },
        ceremony_hash: row?.ceremonyHash,
      },
    });
    expect(events).toEqual([
      ['kernel.approval.requested.v1', expect.objectContaining({ approval_id: row?.id, approvers: ['bob', 'ann'] })],
    ]);
  });

  const registered = {
    ...{ kind: 'registered', tool: 'mail.send', effectLevel: 'E4', host: null },
    registry: { state: 'known', value: { tool: { pinned_hash: digest('e') } } },
  };
  it('depends on the pin of a registered tool, and has its registered name and effect level', async () => {
    const { row } = await ask({ ...mail, tool: 'mail__send' }, { resolution: registered });
    expect(row).toMatchObject({ tool: 'mail.send', effectLevel: 'E4' });
    expect(row?.preconditions).toEqual({ tool_definition_hash: digest('e'), budgets: null });
  });

  it('may cover an action without a tool, and then looks up no tool', async () => {
    const { row, told } = await ask({ kind: 'custom', action: 'docs.publish', tool: null });
    expect(row).toMatchObject({ action: 'docs.publish', tool: null, preconditions: { tool_definition_hash: null } });
    expect(told).toEqual([]);
  });

  it.each<[string, object, Site, object]>([
    [
      'without a policy',
      mail,
      { current: [null], rows: [] },
      {
        ...{
          message: 'The tenant has no active policy, so approvals cannot be requested. Activate one first',
          reasonCode: 'POLICY_MISSING',
        },
      },
    ],
    [
      'for arguments that are not a JSON object',
      { ...mail, malformedArguments: true },
      {},
      { message: 'The arguments are not a JSON object.', reasonCode: 'MALFORMED_ARGUMENTS' },
    ],
    [
      'for a name that resembles a tool of a server',
      mail,
      { resolution: { kind: 'look_alike', serverId: 'post' } },
      { message: expect.stringContaining('"post"'), reasonCode: 'MALFORMED_ARGUMENTS' },
    ],
    [
      'for a name that resembles a tool of the policy',
      { ...mail, tool: 'Mail.send' },
      {},
      { message: expect.stringContaining('"mail.send"'), reasonCode: 'MALFORMED_ARGUMENTS' },
    ],
  ])('is refused %s, and nothing is written', async (_what, call, site, report) => {
    const { refused, written } = await ask(call, site);
    expect(refused).toMatchObject({ code: 'POLICY_DENIED', ...report });
    expect(written.flatMap(({ records }) => records)).toEqual([]);
  });

  it.each<[string, Site]>([
    ['an older policy', { current: [loaded(6), loaded(7)] }],
    ['no policy yet', { current: [null, loaded(7)] }],
  ])('is decided again after a reload when the kernel has loaded %s', async (_what, site) => {
    const { row, told, written } = await ask(mail, site);
    expect(row?.policyEpoch).toBe(7);
    expect(told).toEqual(['tool mail.send', 'policy acme']);
    expect(written.map(({ rows }) => rows.length)).toEqual([0, 1]);
  });

  it('uses the policy of all tenants when its own tenant has none', async () => {
    expect((await ask(mail, { rows: [head('*', 7)] })).row?.policyEpoch).toBe(7);
  });

  it('reads the relations of its rules from the current snapshot', async () => {
    const read = (letter: string, viewer: boolean) => ({
      ...{ kind: 'read', hash: digest(letter), relations: { viewer }, required: [] },
    });
    const rows = [head('acme', 7), relations('2')];
    const look = { tool: 'files.read' };
    const { row, told, written } = await ask(look, { relations: [read('1', false), read('2', true)], rows });
    const facts = { principal: 'agent', tenant: 'acme', tool: 'files.read' };
    expect(row?.facts).toEqual({ ...facts, 'relations.viewer': true });
    expect(told).toEqual(['tool files.read', 'relations acme']);
    expect(written.map((each) => each.rows.length)).toEqual([0, 1]);
    expect((await ask(look, { relations: [{ kind: 'unavailable' }], rows })).row?.facts).toEqual(facts);
  });
});
