import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DecisionReply, HostChain, HostChainReport, RecorderKey } from '@countersign/contracts/governance-kernel';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { adminKey, startTestKernel, starterPolicy, type TestKernel } from './_kernel.ts';
import { packOf } from './_pack.ts';
import { Recorder, type Seen } from './_recorder.ts';
import { newSession } from './_seal.ts';

const policy = starterPolicy.replace(
  '\ntools:',
  `
  - id: leaves
    effect: allow
    match: { action: [data.egress] }
    when: resource != 'refused.example'
  - id: fetches
    effect: allow
    match: { action: [tool.call], tool: [web.fetch] }
    when: args.url != ''
  - id: commands
    effect: allow
    match: { action: [tool.call], tool: [shell.run] }
  - id: deployments
    effect: escalate
    match: { action: [deploy.release] }
tools:`,
);

let test: TestKernel;
const recorder = new Recorder();
beforeAll(async () => {
  test = await startTestKernel();
  for (const tenant of ['acme', 'globex']) await test.activate(tenant, policy);
});
afterAll(() => test?.close());

let chains = 0;
const newChain = (events: readonly Seen[], by = recorder) => by.chain(`chain-${(chains += 1)}`, events);
const load = async (chain: HostChain, keys: RecorderKey[] = [recorder.key], tenant = 'acme') =>
  (await test.as(tenant, 'olga').importHostChain({ query: {}, body: { chain, keys } })).body;
const driftOf = async (report: HostChainReport, tenant = 'acme') =>
  (await test.as(tenant).listHostDrift({ query: { host_chain_id: report.host_chain_id, limit: 200 } })).body.data;
const decide = async (session: string, more: object, principal = 'bot') => {
  const body = { action: 'data.egress', session_id: session, ...more } as never; // plain strings instead of branded ones
  return (await test.as('acme', principal).evaluate({ body })).body;
};
/** Waits until the clock shows the next millisecond, because events are matched with decisions only by time. */
const anotherMoment = async () => {
  const began = test.kernel.context.clock().getTime();
  await until(() => Promise.resolve(test.kernel.context.clock().getTime() > began + 2));
};
const timeOf = ({ receipt }: DecisionReply) => Date.parse(receipt.payload.issued_at);
const kindsOf = ({ receipts }: HostChainReport) => receipts.map(({ correlation, drift }) => drift?.kind ?? correlation);

describe('an imported chain', () => {
  verifies('kn.hostdrift', 'reports the four kinds of Boundary Drift, each sealed in one receipt', async () => {
    const session_id = newSession();
    const allowed = await decide(session_id, { resource: 'https://api.example/v1', demand: { egress_bytes: 1_000 } });
    const denied = await decide(session_id, { resource: 'refused.example' });
    expect([allowed.verdict, denied.verdict]).toEqual(['ALLOW', 'DENY']);
    const at = timeOf(denied) + 1;
    const subject = { session_id };
    const chain = newChain([
      { at, host: 'api.example', bytes: 600, subject },
      { at, host: 'nobody.example', subject: { session_id: newSession() } },
      { at, host: 'refused.example', subject },
      { at, host: 'elsewhere.example', subject },
      { at: at + 1, host: 'api.example', bytes: 600, subject },
    ]);
    const report = await load(chain);
    expect(kindsOf(report)).toEqual([
      ...['correlated', 'without_intent', 'after_deny', 'destination_mismatch', 'volume_exceeded'],
    ]);
    expect(report.counts).toEqual({ receipts: 5, verified: 5, not_verified: 0, failed: 0, drift: 4 });
    const drift = await driftOf(report);
    const of = (kind: string) => drift.find((one) => one.kind === kind);
    expect(of('volume_exceeded')).toMatchObject({ bytes_allowed: 1_000, bytes_counted: 1_200 });
    expect(of('volume_exceeded')).toMatchObject({ decision_receipt_id: allowed.receipt_id, verdict: 'ALLOW' });
    expect(of('after_deny')).toMatchObject({ decision_receipt_id: denied.receipt_id, verdict: 'DENY' });
    expect(of('destination_mismatch')).toMatchObject({
      expected_destinations: ['api.example:443'],
      destination: 'elsewhere.example:443',
    });
    expect(of('without_intent')).toMatchObject({ decision_receipt_id: null, matched_by: [] });
    for (const { receipt_id, drift_id, kind } of drift) {
      const { payload } = (await test.as('acme').getReceipt({ params: { receipt_id } })).body;
      expect(payload).toMatchObject({ kind: 'drift', resource: `host_drift:${drift_id}`, principal_id: 'olga' });
      const { data } = (await test.as('acme').listRecords({ query: { receipt_id } })).body;
      expect(data[0]?.intent.facts).toMatchObject({ drift_id, kind, chain_hash: report.chain_hash });
    }
  });

  verifies('kn.hostdrift', 'is imported once: copies and simultaneous imports seal nothing twice', async () => {
    const session_id = newSession();
    const decided = await decide(session_id, { resource: 'api.example', demand: { egress_bytes: 1_000 } });
    const at = timeOf(decided) + 1;
    const seen = [
      { at, host: 'api.example', bytes: 900, subject: { session_id } },
      { at, host: 'x.example' },
    ];
    const longer = recorder.chain('daily', [...seen, { at, host: 'api.example', bytes: 101, subject: { session_id } }]);
    const chain = { ...longer, receipts: longer.receipts.slice(0, 2) };
    const reports = await Promise.all(Array.from({ length: 8 }, () => load(chain)));
    expect(new Set(reports.map((report) => JSON.stringify(report))).size).toBe(1);
    expect(await load(chain)).toEqual(reports[0]);
    const grown = await load(longer);
    expect(kindsOf(grown)).toEqual(['known', 'known', 'volume_exceeded']);
  });

  it('counts the bytes of a decision across all chains, even if they are imported simultaneously', async () => {
    const session_id = newSession();
    const decided = await decide(session_id, { resource: 'api.example', demand: { egress_bytes: 95 } });
    const at = timeOf(decided) + 1;
    const pieces = Array.from({ length: 10 }, () =>
      newChain([{ at, host: 'api.example', bytes: 10, subject: { session_id } }]),
    );
    const reports = await Promise.all(pieces.map((one) => load(one)));
    expect(reports.flatMap(kindsOf).toSorted()).toEqual([
      ...Array.from({ length: 9 }, () => 'correlated'),
      'volume_exceeded',
    ]);
    const drift = (await Promise.all(reports.map((report) => driftOf(report)))).flat();
    expect(drift).toMatchObject([{ bytes_allowed: 95, bytes_counted: 100 }]);
  });

  verifies(
    'kn.hostdrift',
    'gives each receipt one of three states, and never verifies a receipt with a hardware root',
    async () => {
      const at = Date.now();
      const roots = ['TPM2', 'AWS_NITRO', 'AMD_SEV_SNP', 'INTEL_TDX', 'APPLE_SEP', 'OTHER', 'MADE_UP'];
      const forms: Record<string, Buffer> = {
        TPM2: Buffer.from('ff54434780180022', 'hex'),
        AWS_NITRO: Buffer.from('8444a1013822a0', 'hex'),
        AMD_SEV_SNP: Buffer.alloc(1184),
        INTEL_TDX: Buffer.from('0400020081000000', 'hex'),
      };
      const rooted = roots.map((kind) => ({
        ...{ at, host: 'x.example' },
        more: { hardware_root: { kind, evidence: (forms[kind] ?? Buffer.from('abcdef')).toString('base64') } },
      }));
      const malformed = { at, host: 'x.example', more: { hardware_root: { kind: 'TPM2', evidence: 'AAAAAAAA' } } };
      const report = await load(newChain([{ at, host: 'x.example' }, ...rooted, malformed]));
      expect(report.receipts.map(({ state }) => state)).toEqual([
        ...['verified', ...roots.map(() => 'not_verified'), 'failed'],
      ]);
      for (const { reasons } of report.receipts.slice(1, -1)) expect(reasons).toEqual(['hardware_root_unsupported']);
      expect(report.receipts.at(-1)).toMatchObject({
        ...{ reasons: ['hardware_evidence_malformed'], correlation: 'not_judged', drift: null },
      });
      const { chain } = (await test.as('acme').getHostChain({ params: report })).body;
      expect(chain.receipts.map(({ hardware_root }) => hardware_root?.kind)).toEqual([undefined, ...roots, 'TPM2']);
      expect(report).toMatchObject({ key_source: 'pinned_by_importer', enforcement: false });
    },
  );

  it('is verified only with pinned keys, of either algorithm', async () => {
    const [at, host] = [Date.now(), 'x.example'];
    const second = new Recorder('ES256');
    const signed = newChain([{ at, host }], second);
    const states = async (chain: HostChain, keys: RecorderKey[]) =>
      (await load(chain, keys)).receipts.map(({ state, reasons }) => [state, ...reasons]);
    expect(await states(signed, [second.key])).toEqual([['verified']]);
    expect(await states(signed, [])).toEqual([['not_verified', 'key_unknown']]);
    const bare = recorder.chain('bare', [{ at, host }], { signed: false });
    expect(await states(bare, [recorder.key])).toEqual([['not_verified', 'unsigned']]);
    const stranger = { ...new Recorder().key, key_id: recorder.key.key_id };
    expect(await states(newChain([{ at, host }]), [stranger])).toEqual([['failed', 'signature_invalid']]);
    const continued = recorder.chain('continued', [{ at, host }], { prev: `sha256:${'7'.repeat(64)}` });
    expect(await states(continued, [recorder.key])).toEqual([['not_verified', 'predecessor_unknown']]);
    const first = newChain([{ at, host: 'y.example' }]);
    await load(first);
    const next = recorder.chain('next', [{ at, host }], { prev: first.receipts[0]?.receipt_hash ?? '' });
    expect(await states(next, [recorder.key])).toEqual([['verified']]);
  });

  it('fails at each receipt where it was changed, cut, reordered or extended by a copy', async () => {
    const [at, host] = [Date.now(), 'x.example'];
    const three = () => newChain([1, 2, 3].map((bytes) => ({ at, host, bytes })));
    const reasons = async (chain: HostChain) => (await load(chain)).receipts.map((one) => one.reasons);
    const changed = structuredClone(three());
    if (changed.receipts[1]) changed.receipts[1].event.bytes_sent = 9;
    const found = await reasons(changed);
    expect(found).toEqual([[], ['hash_mismatch', 'signature_invalid'], ['link_broken']]);
    const cut = three();
    cut.receipts.splice(1, 1);
    expect(await reasons(cut)).toEqual([[], ['link_broken']]);
    const reordered = three();
    reordered.receipts.reverse();
    expect((await load(reordered)).counts).toMatchObject({ failed: 2 });
    // The hash of a receipt covers the name of its chain.
    expect(await reasons({ ...three(), chain_id: 'other' })).toContainEqual(['hash_mismatch', 'signature_invalid']);
    const twice = three();
    const [one] = twice.receipts;
    if (one) twice.receipts = [one, one];
    expect(await reasons(twice)).toEqual([[], ['link_broken']]);
  });
});

describe('an event', () => {
  it('belongs to the last decision before it, whether that is an ALLOW or a DENY', async () => {
    const session_id = newSession();
    const fetch = (url: string, more: object = {}) =>
      decide(session_id, { action: 'tool.call', tool: 'web.fetch', effect_level: 'E3', args: { url }, ...more });
    const first = await fetch('https://a.example/x');
    await anotherMoment();
    const second = await decide(session_id, { action: 'tool.call', tool: 'a.delete', resource: 'https://a.example/x' });
    await anotherMoment();
    const third = await fetch('https://a.example/x');
    expect([first.verdict, second.verdict, third.verdict]).toEqual(['ALLOW', 'DENY', 'ALLOW']);
    const seen = (at: number) => ({ at, host: 'a.example', bytes: 1, subject: { session_id } });
    const events = [timeOf(first) - 1, timeOf(second) - 1, timeOf(third) - 1, timeOf(third)].map(seen);
    const report = await load(newChain(events));
    expect(kindsOf(report)).toEqual(['without_intent', 'correlated', 'after_deny', 'correlated']);
    expect(report.receipts.map(({ decision_receipt_id: id }) => id)).toEqual([
      ...[null, first.receipt_id, second.receipt_id, third.receipt_id],
    ]);
  });

  it('belongs to the best match: the agent alone is not enough, and a different session or agent excludes a decision', async () => {
    const [one, neighbour] = [newSession(), newSession()];
    const mine = await decide(one, { resource: 'b.example' }, 'ann');
    await anotherMoment();
    const theirs = await decide(neighbour, { resource: 'b.example' }, 'ben');
    const at = timeOf(theirs) + 1;
    const host = 'b.example';
    const report = await load(
      newChain([
        { at, host, subject: { session_id: one, agent_id: 'ann' } },
        { at, host },
        { at, host, subject: { agent_id: 'ann' } },
        { at, host: 'c.example', subject: { agent_id: 'ann' } },
        { at, host, subject: { session_id: one, agent_id: 'ben' } },
        { at, host: 'c.example', subject: { decision_id: mine.decision_id } },
        { at: at + 300_001, host, subject: { session_id: one } },
      ]),
    );
    const found = report.receipts.map(({ decision_receipt_id: id, matched_by }) => [id, ...matched_by]);
    expect(found.slice(0, 3)).toEqual([
      [mine.receipt_id, 'session', 'agent', 'destination'],
      [theirs.receipt_id, 'destination'],
      [mine.receipt_id, 'agent', 'destination'],
    ]);
    expect(kindsOf(report).slice(3)).toEqual([
      ...['without_intent', 'without_intent', 'destination_mismatch', 'without_intent'],
    ]);
  });

  it('is not covered by a call without a destination, in shadow mode or before its approval', async () => {
    const session_id = newSession();
    const read = await decide(session_id, { action: 'tool.call', tool: 'files.read' });
    await decide(session_id, { resource: 'shadow.example', mode: 'shadow' });
    const waits = await decide(session_id, { action: 'deploy.release', resource: 'https://waits.example' });
    expect([read.verdict, waits.verdict]).toEqual(['ALLOW', 'ESCALATE']);
    const at = timeOf(waits) + 1;
    const hosts = ['any.example', 'shadow.example', 'waits.example'];
    const report = await load(newChain(hosts.map((host) => ({ at, host, subject: { session_id } }))));
    expect(kindsOf(report)).toEqual(['without_intent', 'without_intent', 'after_deny']);
  });

  it('matches a destination by host, address and port as the decision names them', async () => {
    const session_id = newSession();
    await decide(session_id, { resource: 'http://[2001:DB8::1]:8443/x' });
    const at = timeOf(await decide(session_id, { resource: 'D.Example' })) + 1;
    const subject = { session_id };
    const report = await load(
      newChain([
        { at, ip: '2001:db8:0:0:0:0:0:1', port: 8443, subject },
        { at, ip: '2001:db8::1', port: 443, subject },
        { at, host: 'd.example', port: 9, subject },
        { at, host: 'd.example.evil.example', subject },
        { at, ip: '192.0.2.1', subject },
      ]),
    );
    expect(kindsOf(report)).toEqual([
      ...['correlated', 'destination_mismatch', 'correlated', 'destination_mismatch', 'destination_mismatch'],
    ]);
  });

  it('is compared with the destinations of the sealed sandbox grant', async () => {
    const session_id = newSession();
    const granted = { subject: { tool: 'shell.run' }, network: ['mirror.example:443'], expires_in_seconds: 600 };
    await test.as('acme').createSandboxGrant({ query: {}, body: granted as never }); // the schema fills in the defaults
    const ran = await decide(session_id, { action: 'tool.call', tool: 'shell.run', effect_level: 'E1' });
    const { data } = (await test.as('acme').listRecords({ query: { receipt_id: ran.receipt_id } })).body;
    const sandbox_grant_hash = data[0]?.sandbox_grant_hash ?? null;
    const at = timeOf(ran) + 1;
    const subject = sandbox_grant_hash === null ? { session_id } : { sandbox_grant_hash };
    const seen = ['mirror.example', 'else.example'].map((host) => ({ at, host, bytes: 1, subject }));
    expect([ran.verdict, sandbox_grant_hash]).toEqual(['ALLOW', expect.stringMatching(/^sha256:/)]);
    expect(kindsOf(await load(newChain(seen)))).toEqual(['correlated', 'destination_mismatch']);
  });
});

describe('drift', () => {
  it('is listed newest first, by kind and chain, with a notice that it blocks no packets', async () => {
    const at = Date.now();
    const report = await load(newChain([1, 2, 3].map((bytes) => ({ at, bytes, host: 'x.example' }))));
    const query = { host_chain_id: report.host_chain_id, kind: 'without_intent' as const, limit: 2 };
    const first = (await test.as('acme').listHostDrift({ query })).body;
    const next = { ...query, cursor: first.next_cursor ?? '' };
    const second = (await test.as('acme').listHostDrift({ query: next })).body;
    expect([...first.data, ...second.data].map(({ bytes_sent: bytes }) => bytes)).toEqual([3, 2, 1]);
    expect(second.next_cursor).toBe(null);
    expect(first).toMatchObject({ enforcement: false, notice: expect.stringContaining('blocks no packet') });
    const others = { ...query, kind: 'after_deny' as const };
    expect((await test.as('acme').listHostDrift({ query: others })).body.data).toEqual([]);
    const wrong = { query: { cursor: 'bm9uZQ', limit: 2 } };
    await expect(test.as('acme').listHostDrift(wrong)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('is visible only to its tenant, like its chain and its decisions', async () => {
    const session_id = newSession();
    const decided = await decide(session_id, { resource: 'api.example', demand: { egress_bytes: 9 } });
    const chain = newChain([{ at: timeOf(decided) + 1, host: 'api.example', bytes: 1, subject: { session_id } }]);
    const [own, foreign] = [await load(chain), await load(chain, [recorder.key], 'globex')];
    expect([kindsOf(own), kindsOf(foreign)]).toEqual([['correlated'], ['without_intent']]);
    expect(await driftOf(foreign)).toEqual([]);
    expect(await driftOf(own, 'globex')).toEqual([]);
    const params = { host_chain_id: own.host_chain_id };
    await expect(test.as('globex').getHostChain({ params })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is published in one event per import', async () => {
    const report = await load(newChain([1, 2].map((bytes) => ({ at: Date.now(), bytes, host: 'x.example' }))));
    const { rows } = await test.pool.query<{ envelope: { data: object } }>(
      `SELECT envelope::jsonb AS envelope FROM outbox WHERE type = 'kernel.host-drift.sealed.v1' AND envelope::jsonb->>'subject' = $1`,
      [report.host_chain_id],
    );
    expect(rows.map(({ envelope }) => envelope.data)).toMatchObject([
      { tenant_id: 'acme', verified: 2, counts: { without_intent: 2, after_deny: 0 } },
    ]);
  });

  verifies('kn.hostdrift', 'is contained in a pack that verifies', async () => {
    await load(newChain([{ at: Date.now(), host: 'x.example' }]));
    const { text, lines } = await packOf(test, { sessions: ['host-evidence'] });
    expect(lines.filter((line) => line.includes('"kind":"drift"')).length).toBeGreaterThan(0);
    const response = await fetch(new URL('/api/v1/evidence/verify', test.kernel.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'content-type': 'application/json' },
      body: JSON.stringify({ evidence: text }),
    });
    expect(await response.json()).toMatchObject({ verdict: 'VERIFIED', completeness: 'COMPLETE', fault: null });
  });
});
