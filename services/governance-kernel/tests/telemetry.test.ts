import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startOtlpCollector, type OtlpCollector } from '@countersign/testkit/otlp-collector';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { verifies } from '@countersign/testkit/verifies';
import { untilReachable } from '@countersign/testkit/until';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { startUpstreams, upstreamKey, type Upstreams } from './_upstreams.ts';

const plantedArgument = 'planted-argument-7f3a';
const collectorKey = 'planted-collector-key-91bc';
const sentTrace = '0af7651916cd43dd8448eb211c80319c';
const sentSpan = 'b7ad6b7169203331';

let collector: OtlpCollector;
let upstreams: Upstreams;
beforeAll(async () => {
  collector = await startOtlpCollector();
  upstreams = await startUpstreams({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${collectorKey}`,
  });
});
afterAll(async () => {
  await upstreams.close();
  await collector.close();
});

type Trace = { traceId?: string; flags?: string };

const headersOf = ({ traceId = sentTrace, flags = '01' }: Trace = {}) => ({
  authorization: `Bearer ${adminKey}`,
  'content-type': 'application/json',
  'x-gov-tenant-id': 'acme',
  traceparent: `00-${traceId}-${sentSpan}-${flags}`,
  baggage: 'secret=planted-baggage-3c2d',
});

const post = (path: string, body: object, trace?: Trace) =>
  fetch(`${upstreams.test.kernel.url}${path}`, {
    method: 'POST',
    headers: headersOf(trace),
    body: JSON.stringify(body),
  });

const chat = (content: string, trace?: Trace) =>
  post('/v1/chat/completions', { model: 'scripted', messages: [{ role: 'user', content }] }, trace);

const readNote = (id: string, trace?: Trace) =>
  post('/mcp/v1/execute', { tool: 'notes.read_note', args: { id }, session_id: 'traced' }, trace);

const spansOf = async (traceId: string) => {
  await upstreams.test.kernel.context.telemetry.flush();
  return collector.spans().filter((span) => span.traceId === traceId);
};

const newTrace = () => `${crypto.randomUUID().replaceAll('-', '')}`;

describe('the data that a collector receives', () => {
  verifies('kn.telemetry', 'contains a governed model call as one trace, marked as not authoritative', async () => {
    const traceId = newTrace();
    const answer = await chat(plantedArgument, { traceId });
    expect(answer.status).toBe(200);
    const spans = await spansOf(traceId);
    const [server, decision, model] = ['POST /v1/chat/completions', 'decision', 'chat scripted'].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect(server).toMatchObject({ kind: 2, parentSpanId: sentSpan, fields: { 'http.response.status_code': 200 } });
    expect(decision).toMatchObject({
      kind: 1,
      parentSpanId: server?.spanId,
      fields: {
        'countersign.verdict': 'ALLOW',
        'countersign.reason_code': 'ALLOWED',
        'countersign.decision.id': answer.headers.get('x-gov-decision-id'),
        'countersign.policy.hash': answer.headers.get('x-gov-policy-hash'),
      },
    });
    expect(model).toMatchObject({
      kind: 3,
      parentSpanId: server?.spanId,
      fields: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'scripted' },
    });
    expect(Number(model?.fields['gen_ai.usage.output_tokens'])).toBeGreaterThan(0);
    expect(upstreams.model.requests.at(-1)?.headers['traceparent']).toBe(`00-${traceId}-${model?.spanId}-01`);
    for (const span of spans) {
      expect(span.fields['countersign.authoritative']).toBe(false);
      expect(span.resource).toMatchObject({ 'service.name': 'governance-kernel', 'countersign.authoritative': false });
    }
  });

  it('contains the tool and the gate of a denial, and the call that reached a server', async () => {
    const [read, denied] = [newTrace(), newTrace()];
    await readNote('n1', { traceId: read });
    const body = { tool: 'notes.delete_note', args: { id: plantedArgument }, session_id: 'traced' };
    await post('/mcp/v1/execute', body, { traceId: denied });
    const executed = (await spansOf(read)).find(({ name }) => name === 'execute_tool notes.read_note');
    expect(executed?.fields).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'notes.read_note',
      'mcp.method.name': 'tools/call',
    });
    expect(upstreams.notes.requests.map(({ traceparent }) => traceparent)).toContain(
      `00-${read}-${executed?.spanId}-01`,
    );
    const spans = await spansOf(denied);
    expect(spans.map(({ name }) => name).sort()).toEqual(['POST /mcp/v1/execute', 'decision']);
    expect(spans.find(({ name }) => name === 'decision')?.fields).toMatchObject({
      'countersign.verdict': 'DENY',
      'countersign.reason_code': 'POLICY_DENIED',
      'countersign.gate': 'rules',
    });
  });

  it('keeps the trace of a model call whose upstream fails, and ends its span', async () => {
    const traceId = newTrace();
    upstreams.model.follow(() => (res) => void res.destroy());
    expect((await chat('broken', { traceId })).status).toBe(502);
    upstreams.model.follow(followDirectives);
    const model = (await spansOf(traceId)).find(({ name }) => name === 'chat scripted');
    expect(model).toMatchObject({ status: 2, fields: { 'countersign.outcome': 'failed', 'error.type': 'failed' } });
  });

  it('contains no argument, answer, key or baggage, in spans and in metrics', async () => {
    await chat(plantedArgument);
    await readNote(plantedArgument);
    await upstreams.test.kernel.context.telemetry.flush();
    const received = collector.received().toString('latin1');
    expect(received.length).toBeGreaterThan(1_000);
    for (const secret of [
      plantedArgument,
      adminKey,
      upstreamKey,
      collectorKey,
      'planted-baggage',
      'declared-for-notes',
    ])
      expect(received).not.toContain(secret);
    expect(JSON.stringify(upstreams.model.requests)).not.toContain('planted-baggage');
    expect(collector.requests.every(({ headers }) => headers['x-collector-key'] === collectorKey)).toBe(true);
  });

  it('contains metrics', async () => {
    await chat('measured');
    await upstreams.test.kernel.context.telemetry.flush();
    expect(collector.metricNames()).toEqual(
      expect.arrayContaining([
        'countersign_decisions',
        'countersign_decision_duration_seconds',
        'countersign_commit_duration_seconds',
      ]),
    );
  });

  it('omits a trace that its sender does not sample, and the flag is forwarded', async () => {
    const traceId = newTrace();
    await chat('unsampled', { traceId, flags: '00' });
    expect(await spansOf(traceId)).toEqual([]);
    expect(upstreams.model.requests.at(-1)?.headers['traceparent']).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
    );
  });

  it.each(['00-zz-1-01', `00-${'0'.repeat(32)}-${sentSpan}-01`, `ff-${sentTrace}-${sentSpan}-01`])(
    'begins a new trace when the invalid traceparent %s was sent',
    async (traceparent) => {
      const seen = collector.spans().length;
      await fetch(`${upstreams.test.kernel.url}/version`, { headers: { traceparent } });
      await upstreams.test.kernel.context.telemetry.flush();
      const spans = collector.spans().slice(seen);
      const span = spans.find(({ name }) => name === 'GET /version');
      expect(span?.parentSpanId).toBe('');
      expect(span?.traceId).not.toBe('0'.repeat(32));
    },
  );
});

/** Short timeouts for collectors that never answer. */
const collectorPatience = { answerMs: 400, connectionMs: 800, closeMs: 400 };

const moods = ['hangs', 'refuses', 'away'] as const;
type Mood = (typeof moods)[number];
const spoiled: OtlpCollector[] = [];
afterAll(async () => {
  for (const bad of spoiled) await bad.close();
});

async function spoil(bad: OtlpCollector, mood: Mood): Promise<OtlpCollector> {
  if (mood === 'away') await bad.close();
  else {
    bad.become(mood);
    spoiled.push(bad);
  }
  return bad;
}

const badCollector = async (mood: Mood) => spoil(await startOtlpCollector(), mood);

describe('a requested export', () => {
  const exported = async (body: object, test: TestKernel = upstreams.test) => {
    const answer = await fetch(`${test.kernel.url}/api/v1/telemetry/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, told: (await answer.json()) as Record<string, unknown> };
  };
  const sealed = async (test: TestKernel = upstreams.test, tenant = 'acme') => {
    const body = { action: 'tool.call', tool: 'files.read', session_id: 's', args: { at: plantedArgument } } as never;
    return (await test.as(tenant).evaluate({ body })).body;
  };

  verifies('kn.telemetry', 'is sent, reports success, and marks sealed receipts as not authoritative', async () => {
    const { receipt_id, receipt_hash, record_hash } = await sealed();
    const before = collector.requests.length;
    const { status, told } = await exported({ tenant_id: 'acme', receipt_ids: [receipt_id] });
    expect({ status, ...told }).toMatchObject({
      status: 200,
      format: 'otlp',
      authoritative: false,
      exported: true,
      endpoint: collector.url,
      traces: { state: 'sent', count: 1 },
      metrics: { state: 'sent' },
      attributes: { 'countersign.authoritative': false },
    });
    const [span, ...others] = collector.spans().filter(({ name }) => name === 'receipt');
    expect(others).toEqual([]);
    expect(span?.fields).toMatchObject({
      'countersign.authoritative': false,
      'countersign.receipt.id': receipt_id,
      'countersign.receipt.hash': receipt_hash,
      'countersign.record.hash': record_hash,
    });
    expect(span?.resource['countersign.authoritative']).toBe(false);
    const came = collector.requests.slice(before);
    expect(came.map(({ path }) => path)).toEqual(expect.arrayContaining(['/v1/traces', '/v1/metrics']));
    expect(came.every(({ headers }) => headers['x-collector-key'] === collectorKey)).toBe(true);
    expect(JSON.stringify(told)).not.toContain(collectorKey);
    expect(collector.received().toString('latin1')).not.toContain(plantedArgument);
  });

  it('sends only the metrics when no receipt is named', async () => {
    const { told } = await exported({});
    expect(told).toMatchObject({ exported: true, traces: { state: 'nothing' }, metrics: { state: 'sent' } });
  });

  it('sends no receipt of another tenant', async () => {
    const { receipt_id } = await sealed();
    const seen = collector.requests.length;
    expect((await exported({ tenant_id: 'globex', receipt_ids: [receipt_id] })).status).toBe(404);
    expect(collector.requests.slice(seen).filter(({ path }) => path === '/v1/traces')).toEqual([]);
  });

  it.each([
    ['a tenant without receipt IDs', { tenant_id: 'acme' }],
    ['receipt IDs without a tenant', { receipt_ids: [`rcp_${'0'.repeat(26)}`] }],
    ['a repeated receipt ID', { tenant_id: 'acme', receipt_ids: Array(2).fill(`rcp_${'0'.repeat(26)}`) }],
    ['more receipt IDs than the limit', { tenant_id: 'acme', receipt_ids: Array(101).fill(`rcp_${'0'.repeat(26)}`) }],
    ['a verdict from the caller', { verdict: 'ALLOW' }],
  ])('rejects %s', async (_what, body) => {
    expect((await exported(body)).status).toBe(400);
  });

  const report: Record<Mood, object> = {
    refuses: { state: 'refused', status: 400 },
    hangs: { state: 'unanswered' },
    away: { state: 'unanswered' },
  };
  const exportTo = async (mood: Mood) => {
    const test = await startTestKernel({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: (await badCollector(mood)).url },
      // A collector that refuses may answer slowly, so it gets the full timeout.
      overrides: mood === 'refuses' ? {} : { collectorPatience },
    });
    await test.activate('acme', starterPolicy);
    const { receipt_id } = await sealed(test);
    for (let calls = 0; calls < 20; calls += 1) expect([mood, (await sealed(test)).verdict]).toEqual([mood, 'ALLOW']);
    const answer = await exported({ tenant_id: 'acme', receipt_ids: [receipt_id] }, test);
    await test.close();
    return { mood, status: answer.status, ...answer.told };
  };

  it('reports a collector that refuses, hangs or is absent, and delays no decision and no stop', async () => {
    const answers = await Promise.all(moods.map(exportTo));
    expect(answers).toMatchObject(
      moods.map((mood) => ({ mood, status: 200, exported: false, traces: report[mood], metrics: report[mood] })),
    );
  });

  it('times out and closes its connections when the collector never ends its answer', async () => {
    const bad = await startOtlpCollector();
    bad.become('drips');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: bad.url };
    const test = await startTestKernel({ env, overrides: { collectorPatience } });
    const { told } = await exported({}, test);
    expect(told).toMatchObject({ exported: false, metrics: { state: 'unanswered' } });
    await untilReachable(async () => bad.dripping() === 0);
    await test.close();
    await bad.close();
  });
});

describe('without a collector', () => {
  it('an export reports that none is configured', async () => {
    const plain = await startTestKernel();
    const { body } = await plain.as('acme').exportTelemetry({ body: {} as never }); // the schema fills in the defaults
    const none = { state: 'not_configured' };
    expect(body).toMatchObject({ exported: false, endpoint: null, traces: none, metrics: none });
    await plain.close();
  });

  it('no span is created, and the trace of a caller is forwarded unchanged', async () => {
    const plain = await startUpstreams();
    expect(plain.test.kernel.context.tracer).toBeNull();
    const url = `${plain.test.kernel.url}/mcp/v1/execute`;
    const body = JSON.stringify({ tool: 'notes.read_note', args: { id: 'n' }, session_id: 's' });
    await fetch(url, { method: 'POST', headers: headersOf(), body });
    expect(plain.notes.requests.map(({ traceparent }) => traceparent)).toContain(`00-${sentTrace}-${sentSpan}-01`);
    await plain.close();
  });
});

describe('/metrics', () => {
  const scrape = async () => await (await fetch(`${upstreams.test.kernel.healthUrl}/metrics`)).text();

  it('counts decisions by verdict, reason and door, and contains no tenant, principal, tool or session', async () => {
    await chat('counted');
    const text = await scrape();
    expect(text).toMatch(
      /countersign_decisions_total\{verdict="ALLOW",reason_code="ALLOWED",door="chat",mode="enforce"\} \d+/,
    );
    expect(text).toMatch(/countersign_decision_duration_seconds_bucket\{door="chat",le="0.05"\}/);
    for (const name of ['countersign_commit_duration_seconds_count', 'countersign_commit_entries_sum'])
      expect(text).toContain(name);
    for (const name of ['dispatches_open', 'dispatches_live', 'fences', 'log_receipts', 'outbox_oldest_age_seconds'])
      expect(text).toMatch(new RegExp(`^countersign_${name} \\d`, 'm'));
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text).not.toMatch(/acme|traced|notes\.|scripted|admin/);
  });

  it('is available only on the health port', async () => {
    expect((await fetch(`${upstreams.test.kernel.url}/metrics`)).status).toBe(404);
  });
});
