import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pathParams, type AnyRoute } from '@countersign/contracts';
import { kernelRoutes } from '@countersign/contracts/routes';
import { canonicalBytes, canonicalize, digestOf, encodeBase64Url, utf8Bytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { AssertionVerifier } from '@countersign/service-kit';
import { ulid } from 'ulid';
import { assertionKey } from './_assertion-key.ts';
import { hash, StubApprovals, type StubApproval } from './_stub-approvals.ts';
import type { StubFault, StubVerdict } from './_stub-faults.ts';
import { StubSettings } from './_stub-settings.ts';
import { keySetOf, StubTrust } from './_stub-trust.ts';

export type { StubFault, StubVerdict } from './_stub-faults.ts';
export type StubMessage = { role: string; content?: unknown; tool_call_id?: string };
export type StubStatement = { text?: string; calls?: { name: string; args: object; id?: string }[] };
export type Executed = { tool: string; args: unknown; key: string | undefined; grant: string | undefined };

/**
 * Fake of the kernel for failure cases of the gateway. It behaves correctly and signs real receipts by default. A test
 * can make it lie. It decides by a table and only counts executions.
 */
export class KernelStub {
  fault: StubFault = 'none';
  verdictOf: (tool: string) => StubVerdict = () => 'ALLOW';
  /** The verdict on model calls without an approval. */
  modelVerdict: StubVerdict = 'ALLOW';
  /** The verdict on changes to the rules for agents. */
  changeVerdict: StubVerdict = 'ALLOW';
  /** The proposed changes, each with its principal. */
  readonly changes: { principal: string; body: unknown }[] = [];
  /** The reason code of calls that `verdictOf` denies. */
  denialReason = 'POLICY_DENIED';
  /** Whether refused calls are removed from the model's answer, as in the kernel, or are refused only at execution. */
  judgesAnswers = true;
  say: (messages: StubMessage[]) => StubStatement = () => ({ text: 'done' });
  /** Runs before an execution is answered, so that a test can kill its worker here. */
  beforeExecutionAnswer: () => Promise<void> = async () => undefined;
  beforeModelAnswer: () => Promise<void> = async () => undefined;
  /** Runs before approvals are listed. */
  beforeApprovals: () => Promise<void> = async () => undefined;
  /** Whether the model reports its token usage. */
  tellsUsage = true;
  /** The reported token usage. */
  usage = { prompt_tokens: 10, completion_tokens: 5 };
  tools = ['files.read', 'files.write'];
  /** The time from which the kernel's key is revoked. */
  revokedAt: string | null = null;
  readonly executed: Executed[] = [];
  readonly modelCalls: string[] = [];
  /** The requested paths, in order. */
  readonly paths: string[] = [];
  /** The trace context of each request. */
  readonly traces: { path: string; traceparent: string | string[] | undefined }[] = [];
  /** The asserted roles of the requests. */
  readonly roles: string[] = [];
  readonly approvals = new StubApprovals();
  readonly settings = new StubSettings();
  /** The counted cost of a model call. */
  callMicros = 105n;
  /** The names of the offered tools of each model call. */
  readonly offered: string[][] = [];
  #server: Server | null = null;
  #port = 0;
  /** The list that the stub serves, and its root. */
  readonly trust = new StubTrust();
  /** The key that signs receipts. A test can replace it. */
  signer = createSigner(generateSigningKey().privateKeyPem);
  readonly #assertions = AssertionVerifier.ofWorkspaces([assertionKey], () => this.approvals.clock());
  readonly #foreign = createSigner(generateSigningKey().privateKeyPem);
  readonly #answers = new Map<string, Promise<{ status: number; body: unknown; headers: Record<string, string> }>>();
  readonly #receipts = new Map<string, object>();
  #lastReceipt: Receipt | null = null;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get publicKey(): string {
    return encodeBase64Url(this.signer.publicKey);
  }

  async start(): Promise<void> {
    const server = createServer((req, res) => {
      this.#answer(req, res).catch(() => res.destroy());
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    const address = server.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : 0;
    this.#server = server;
  }

  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of req as AsyncIterable<Uint8Array>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const url = new URL(req.url ?? '/', this.url);
    this.paths.push(url.pathname);
    this.traces.push({ path: url.pathname, traceparent: req.headers['traceparent'] });
    if (this.fault === 'hang') return;
    if (this.fault === 'error_500') return send(res, 500, { error: { code: 'INTERNAL' } });
    if (url.pathname === '/healthz') return send(res, 200, { status: 'ok', version: 'stub' });
    const published = this.#published(url.pathname);
    if (published !== null) return send(res, 200, published);
    if (this.fault === 'nonsense') return send(res, 200, { hello: 'world' });
    const body: unknown = text === '' ? {} : JSON.parse(text);
    if (url.pathname.startsWith('/internal/')) {
      const answered = await this.settings.answer(url.pathname, body as Record<string, unknown>);
      return send(res, answered.status, answered.body);
    }
    const ask: Ask = { req, url, body, ...(await this.#speakerOf(req, url)) };
    if (this.fault === 'no_tools' && url.pathname === '/mcp/v1/capabilities')
      return send(res, 500, { error: { code: 'INTERNAL' } });
    if (url.pathname === '/mcp/v1/capabilities') return send(res, 200, this.#capabilities());
    if (url.pathname.startsWith('/api/v1/receipts/'))
      return send(res, 200, this.#receipts.get(url.pathname.slice(17)) ?? {});
    if (url.pathname === '/api/v1/approvals') await this.beforeApprovals();
    if (url.pathname === '/api/v1/approvals')
      return send(res, 200, this.approvals.list(ask.url.searchParams, ask.tenant));
    if (url.pathname.startsWith('/api/v1/approvals/')) return this.#vote(ask, res);
    if (url.pathname === '/api/v1/evaluate') return send(res, 200, this.#change(ask));
    const { status, body: reply, headers } = await this.#once(ask, text);
    if (this.fault === 'other_decision') headers['x-gov-decision-id'] = `dec_${ulid()}`;
    send(res, status, reply, headers);
  }

  /** Verifies the caller by its assertion, like the kernel does, for a role that the route accepts. */
  async #speakerOf({ method, headers }: IncomingMessage, url: URL): Promise<Speaker> {
    // A fixed path segment has precedence over a parameter.
    const [route] = Object.values<AnyRoute>(kernelRoutes)
      .filter((one) => one.method === method && matches(one.path, url.pathname))
      .toSorted((a, b) => pathParams(a.path).length - pathParams(b.path).length);
    const proven = await this.#assertions.verify((headers.authorization ?? '').slice('Bearer '.length));
    if (route?.assertedBy?.includes(proven.role) !== true) throw new Error(`${url.pathname} is not for ${proven.role}`);
    this.roles.push(proven.role);
    return { tenant: proven.workspace_id, principal: proven.sub };
  }

  #once(ask: Ask, text: string) {
    const key = `${ask.url.pathname} ${String(ask.req.headers['idempotency-key'])} ${text}`;
    const existing = this.#answers.get(key);
    if (existing !== undefined) return existing;
    const answer = ask.url.pathname === '/v1/chat/completions' ? this.#chat(ask) : this.#execute(ask);
    this.#answers.set(key, answer);
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }

  async #chat(ask: Ask) {
    const { messages, tools = [] } = ask.body as { messages: StubMessage[]; tools?: { function: { name: string } }[] };
    const session = String(ask.req.headers['x-gov-session-id']);
    this.modelCalls.push(String(ask.req.headers['idempotency-key']));
    const isGranted = this.approvals.use(String(ask.req.headers['x-gov-approval-grant']));
    this.offered.push(tools.map((tool) => tool.function.name));
    const judged = isGranted ? 'ALLOW' : this.modelVerdict;
    const isPaid = judged !== 'ALLOW' || this.settings.take(ask.tenant, this.callMicros);
    const verdict = isPaid ? judged : 'DENY';
    const reason = isPaid ? undefined : 'BUDGET_EXCEEDED';
    const { receipt } = this.#decide({ ask, session, action: 'model.call', tool: null, verdict, reason }, messages);
    if (verdict !== 'ALLOW') return { status: 403, body: { error: { code: 'DENIED' } }, headers: headersOf(receipt) };
    const statement = this.say(messages);
    const calls = (statement.calls ?? []).map((call) => this.#judge(ask, session, call));
    const released = calls.filter((call) => call.decision === null || call.decision['verdict'] === 'ALLOW');
    const message = {
      role: 'assistant',
      content: statement.text ?? null,
      ...(released.length === 0 ? {} : { tool_calls: released.map((call) => call.released) }),
      ...(this.judgesAnswers && calls.length > 0
        ? { countersign: { decisions: calls.map((call) => call.decision) } }
        : {}),
    };
    const body = {
      id: 'c',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      ...(this.tellsUsage ? { usage: this.usage } : {}),
    };
    await this.beforeModelAnswer();
    const headers = headersOf(receipt);
    headers['x-gov-spend-micros'] = String(this.callMicros);
    return { status: 200, body, headers };
  }

  #change(ask: Ask): unknown {
    const { action, session_id: session } = ask.body as Record<string, string>;
    this.changes.push({ principal: ask.principal, body: ask.body });
    const sealing = { ask, session: String(session), action: String(action), tool: null, verdict: this.changeVerdict };
    const { receipt, approval } = this.#decide(sealing, ask.body);
    return decisionOf(receipt, approval);
  }

  #judge(ask: Ask, session: string, call: { name: string; args: object; id?: string }) {
    const { name, args, id = `call_${ulid()}` } = call;
    const released = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
    if (!this.judgesAnswers) return { released, decision: null };
    const tool = name.replace('__', '.');
    const isBlocked = this.settings.isBlocked(ask.tenant, tool);
    const verdict = isBlocked ? 'DENY' : this.verdictOf(tool);
    const reason = isBlocked ? 'TOOL_BLOCKED' : undefined;
    const { receipt, approval } = this.#decide({ ask, session, action: 'tool.call', tool, verdict, reason }, args);
    const decision: Record<string, unknown> = {
      tool,
      tool_call_id: id,
      verdict,
      reason_code: receipt.payload.reason_code,
      decision_id: receipt.payload.decision_id,
      receipt_id: receipt.payload.receipt_id,
      ...(approval === null ? {} : { approval_id: approval.id, arguments: JSON.stringify(args) }),
    };
    return { released, decision };
  }

  async #execute(ask: Ask) {
    const { args, ...named } = ask.body as Record<string, string>;
    const { tool, session_id: session, approval_grant: grant } = named;
    const done = { result: { content: [{ type: 'text', text: `${String(tool)} did it` }] }, is_error: false };
    const approved = grant !== undefined && this.approvals.use(grant);
    const isBlocked = this.settings.isBlocked(ask.tenant, String(tool));
    const allowed = approved ? 'ALLOW' : this.verdictOf(String(tool));
    const isLocked = grant !== undefined && this.approvals.isLocked(grant);
    const verdict = isBlocked || isLocked ? 'DENY' : allowed;
    const judged = isLocked ? 'APPROVAL_TIMELOCKED' : undefined;
    const reason = isBlocked ? 'TOOL_BLOCKED' : judged;
    const sealing = { ask, session: String(session), action: 'tool.call', tool: String(tool), verdict, reason };
    const { receipt, approval } = this.#decide(sealing, args);
    const decision = decisionOf(receipt, approval);
    if (this.fault === 'denial_as_allow')
      return {
        status: 200,
        body: { decision: { ...decision, verdict: 'ALLOW', allow: true }, ...done },
        headers: headersOf(receipt),
      };
    if (verdict !== 'ALLOW') return { status: 403, body: { decision, is_error: true }, headers: headersOf(receipt) };
    this.executed.push({ tool: String(tool), args, key: String(ask.req.headers['idempotency-key']), grant });
    await this.beforeExecutionAnswer();
    return { status: 200, body: { decision, ...done }, headers: headersOf(receipt) };
  }

  /** Decides about a tool call. Reuses an open approval of the same call, like the kernel does. */
  #decide(sealing: Sealing, args: unknown): { receipt: Receipt; approval: StubApproval | null } {
    const reason = sealing.reason ?? (sealing.verdict === 'DENY' ? this.denialReason : reasonOf[sealing.verdict]);
    if (sealing.verdict !== 'ESCALATE') return { receipt: this.#seal({ ...sealing, reason }), approval: null };
    const { ask, session, tool } = sealing;
    const question = { tenant: ask.tenant, session, tool: String(tool), intent: hash(JSON.stringify([tool, args])) };
    const open = this.approvals.findOpen(question);
    const id = open?.id ?? `apr_${ulid()}`;
    const receipt = this.#seal({ ...sealing, reason, approvalId: id });
    return { receipt, approval: open ?? this.approvals.open(id, receipt.payload.receipt_id, question) };
  }

  #seal({ ask, session, action, tool, verdict, approvalId, reason }: Sealing & { reason: string }): Receipt {
    if (this.fault === 'replayed' && this.#lastReceipt !== null && action === 'tool.call') return this.#lastReceipt;
    const id = ulid();
    const payload = {
      type: 'countersign.receipt.v1',
      receipt_id: `rcp_${this.fault === 'outcome' ? ulid() : id}`,
      kind: this.fault === 'outcome' ? 'outcome' : 'decision',
      ...(this.fault === 'outcome' ? { outcome: 'completed', decision_receipt_id: `rcp_${id}` } : {}),
      tenant_id: this.fault === 'other_tenant' ? 'wsp_SOMEBODYELSE' : ask.tenant,
      principal_id: this.fault === 'other_principal' ? 'agent:other' : ask.principal,
      session_id: this.fault === 'other_session' ? 'run_OTHER' : session,
      decision_id: `dec_${id}`,
      record_hash: hash('record'),
      verdict,
      reason_code: reason,
      action: this.fault === 'other_action' ? 'data.egress' : action,
      tool: this.fault === 'other_tool' && tool !== null ? 'files.harmless' : tool,
      resource: null,
      effect_level: 'E2',
      args_hash: hash('args'),
      policy_hash: hash('policy'),
      policy_epoch: 1,
      ...(approvalId === undefined ? {} : { approval_id: approvalId }),
      shadow: this.fault === 'shadow',
      lamport_clock: this.#receipts.size + 1,
      prev_hash: null,
      issued_at: new Date(this.approvals.clock().getTime() - (this.fault === 'old' ? 3_600_000 : 0)).toISOString(),
    };
    const bytes = canonicalBytes(payload);
    const signer = this.fault === 'foreign_key' || this.fault === 'other_keys' ? this.#foreign : this.signer;
    const keyId = this.fault === 'other_keys' ? this.#foreign.keyId : this.signer.keyId;
    const signature = this.fault === 'unsigned' ? Buffer.alloc(64, 1) : signer.sign(bytes);
    const sealed = { payload, signature: { alg: 'Ed25519', key_id: keyId, value: encodeBase64Url(signature) } };
    const receipt: Receipt = {
      ...sealed,
      receipt_hash: digestOf(nodeProvider, `countersign.receipt-hash.v1\n${canonicalize(sealed)}`),
      log_index: this.#receipts.size,
    };
    this.#receipts.set(payload.receipt_id, receipt);
    if (action === 'tool.call') this.#lastReceipt = receipt;
    return receipt;
  }

  #vote({ url, body, tenant, principal: approver }: Ask, res: ServerResponse): void {
    const [, , , , id = '', action = ''] = url.pathname.split('/');
    const { expected_ceremony_hash: ceremonyHash = '' } = body as Record<string, string>;
    const voted =
      action === 'withdraw'
        ? this.approvals.withdraw(id, tenant)
        : this.approvals.vote({ id, tenant, action, approver, ceremonyHash });
    send(res, voted.status, voted.body);
  }

  #capabilities() {
    const tools = this.tools.map((name) => ({
      name,
      server_id: 'files',
      description: name,
      effect_level: 'E2',
      input_schema: { type: 'object' },
      definition_hash: hash(name),
    }));
    return { server_name: 'stub', version: '0', tools };
  }

  #published(path: string): object | null {
    if (path === '/api/v1/trust/list') return this.trust.list;
    const signer = this.fault === 'other_keys' ? this.#foreign : this.signer;
    return path === '/api/v1/trust/keys' ? keySetOf(signer, this.revokedAt) : null;
  }
}

type Speaker = { tenant: string; principal: string };
type Ask = Speaker & { req: IncomingMessage; url: URL; body: unknown };
type Sealing = {
  ask: Ask;
  session: string;
  action: string;
  tool: string | null;
  verdict: StubVerdict;
  approvalId?: string;
  reason?: string | undefined;
};
type Receipt = {
  payload: Record<string, unknown> &
    Record<'receipt_id' | 'decision_id' | 'session_id' | 'tenant_id' | 'reason_code', string>;
  signature: object;
  receipt_hash: string;
  log_index: number;
};

function matches(path: string, pathname: string): boolean {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
}

const reasonOf = { ALLOW: 'ALLOWED', ESCALATE: 'APPROVAL_REQUIRED' };

function decisionOf({ payload, ...receipt }: Receipt, approval: StubApproval | null): Record<string, unknown> {
  return {
    verdict: payload['verdict'],
    allow: payload['verdict'] === 'ALLOW',
    reason_code: payload['reason_code'],
    reason: 'as the table says',
    decision_id: payload.decision_id,
    record_id: `rec_${ulid()}`,
    record_hash: payload['record_hash'],
    receipt_id: payload.receipt_id,
    receipt_hash: receipt.receipt_hash,
    policy_hash: payload['policy_hash'],
    policy_epoch: 1,
    lamport_clock: payload['lamport_clock'],
    log_index: receipt.log_index,
    trace: [],
    ...(approval === null
      ? {}
      : { approval: { approval_id: approval.id, expires_at: approval.expiresAt, approve_url: 'http://x' } }),
    receipt: { payload, ...receipt },
  };
}

function headersOf(receipt: Receipt): Record<string, string> {
  const { decision_id, receipt_id } = receipt.payload;
  const text = encodeBase64Url(utf8Bytes(JSON.stringify(receipt)));
  return { 'x-gov-decision-id': decision_id, 'x-gov-receipt-id': receipt_id, 'x-gov-receipt': text };
}

function send(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
