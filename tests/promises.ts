import type { Promised } from './promised.ts';
import { promisesOfDocument3 } from './promises-of-document-3.ts';

export const promises = [
  {
    id: 'gw.auth.email',
    source: 'doc1',
    promise:
      'an email code requested and verified gives a token, user and workspace; the code is returned only in development without a mail provider',
  },
  {
    id: 'gw.auth.email.guess',
    source: 'doc1',
    promise: 'a code dies after its tries or its lifetime, and unknown and known addresses answer alike',
  },
  {
    id: 'gw.auth.messenger',
    source: 'doc1',
    promise: 'valid web-app init data logs in once; tampered, stale, future or replayed data is refused',
  },
  {
    id: 'gw.auth.apikey',
    source: 'doc1',
    promise: 'an hp_ key works in X-API-Key, expires, can be listed and revoked, and is stored only as a hash',
  },
  {
    id: 'gw.auth.rotation',
    source: 'doc1',
    promise:
      'a session older than 24 h is rotated once through X-New-Token; parallel requests survive; reuse of the old token after the overlap revokes the family',
  },
  { id: 'gw.auth.logout', source: 'doc1', promise: 'DELETE session invalidates that session at once' },
  {
    id: 'gw.auth.401',
    source: 'doc1',
    promise: 'every non-auth route refuses missing, expired and malformed credentials with 401 and the error envelope',
  },
  {
    id: 'gw.tenancy.404',
    source: 'doc1',
    promise:
      'missing, unknown and foreign workspace context give the same 404 on every workspace route, by path, header, query and body',
  },
  {
    id: 'gw.invite',
    source: 'doc1',
    promise: "an invite works for its own address only, once, within 7 days; it never gives another person's session",
  },
  {
    id: 'gw.settings',
    source: 'doc1',
    promise:
      'settings replace the sent sections, reject unknown members and out-of-bound values, and are enforced by runs',
  },
  { id: 'gw.mode', source: 'doc1', promise: 'any of the five modes can be set; anything else is a 400' },
  {
    id: 'gw.task.create',
    source: 'doc1',
    promise: 'creating a task writes task, audit entry and evidence metadata in one transaction',
  },
  {
    id: 'gw.task.moves',
    source: 'doc1',
    promise: 'only the published status moves are accepted; others are 409 and change nothing',
  },
  {
    id: 'gw.task.run',
    source: 'doc1',
    promise:
      'running a task goes through queue and orchestrator, leaves run history with decision ids and receipts, and answers before the work is done',
  },
  {
    id: 'gw.run.crash',
    source: 'doc1',
    promise: 'a worker killed in the middle of a run loses no step and repeats no dispatched action',
  },
  { id: 'gw.run.outage', source: 'card', promise: 'a kernel or a database that is away for seconds ends no run' },
  {
    id: 'gw.run.escalate',
    source: 'doc1',
    promise:
      'an escalated action parks the run; approve resumes it, reject and expiry end it; the approval is one per action',
  },
  {
    id: 'gw.run.budget',
    source: 'doc1',
    promise: 'iteration budget, blocked tools and the monthly ledger stop a run before the call that would exceed them',
  },
  {
    id: 'gw.audit',
    source: 'doc1',
    promise: "every mutation and every denial is in the workspace's hash-chained audit log; editing a row is detected",
  },
  {
    id: 'gw.approvals',
    source: 'doc1',
    promise: 'approvals filter by status, resolve once, by an entitled person other than the requester',
  },
  { id: 'gw.violations', source: 'doc1', promise: 'each policy denial appears in violations' },
  {
    id: 'gw.capabilities',
    source: 'doc1',
    promise:
      'each capability shows state, blockers, owner and eval gate; production_ready needs a recorded passing gate',
  },
  {
    id: 'gw.governance',
    source: 'doc1',
    promise: 'status and receipts routes show live reachability and verified receipts',
  },
  {
    id: 'gw.failclosed',
    source: 'doc1',
    promise:
      'with GOV_FAIL_CLOSED=1 a killed, hung, slow, lying or unsigned kernel means that nothing is executed and the outcome says unreachable/degraded',
  },
  {
    id: 'gw.health',
    source: 'doc1',
    promise: 'health tells database, queue and governance apart and turns when each is stopped',
  },
  {
    id: 'gw.ratelimit',
    source: 'doc1',
    promise: 'limits hold per principal after authentication and cannot be evaded by headers',
  },
  {
    id: 'gw.report',
    source: 'doc1',
    promise:
      'a failed call can be reported with method, path, workspace, request id, status, sanitized shape, auth mechanism, task and decision id, and no secret is in it',
  },
  {
    id: 'kn.evaluate',
    source: 'doc2',
    promise: 'allow, deny and escalate each seal one boundary record and one signed receipt that point at each other',
  },
  {
    id: 'kn.atomic',
    source: 'doc2',
    promise: 'kill -9 at any moment leaves record, receipt, budget and approval use all or none',
  },
  { id: 'kn.deny.proof', source: 'doc2', promise: 'a denial leaves the same proof as an allow' },
  { id: 'kn.fc.policy.missing', source: 'doc2', promise: 'without a policy everything is denied with a receipt' },
  { id: 'kn.fc.policy.stale', source: 'doc2', promise: 'a policy older than its allowed age denies' },
  { id: 'kn.fc.pdp', source: 'doc2', promise: 'an evaluator that throws, hangs or returns nonsense denies' },
  { id: 'kn.fc.snapshot', source: 'doc2', promise: 'a stale relationship snapshot denies' },
  { id: 'kn.fc.credentials', source: 'doc2', promise: 'missing credentials of a required identity deny' },
  { id: 'kn.fc.args', source: 'doc2', promise: 'arguments that break the pinned schema deny' },
  {
    id: 'kn.fc.drift',
    source: 'doc2',
    promise: 'a tool definition that differs from its pin, description included, denies',
  },
  {
    id: 'kn.fc.bypass',
    source: 'doc2',
    promise: 'a dispatch without a boundary record is impossible inside and detected outside',
  },
  { id: 'kn.fc.overgrant', source: 'doc2', promise: 'a sandbox request above its grant denies' },
  {
    id: 'kn.fc.egress',
    source: 'doc2',
    promise: 'egress outside the allowed destinations denies, names resolved to private addresses included',
  },
  { id: 'kn.fc.receipt', source: 'doc2', promise: 'when the receipt cannot be stored nothing is dispatched' },
  {
    id: 'kn.gates',
    source: 'doc2',
    promise: 'every gate holds on every governed route (route x gate matrix generated from the contracts)',
  },
  { id: 'kn.context', source: 'doc2', promise: 'authority cannot be smuggled through context, headers or arguments' },
  {
    id: 'kn.idempotent',
    source: 'doc2',
    promise: 'a repeated evaluate with the same key gives the same receipt and spends nothing twice',
  },
  {
    id: 'kn.chat.openai',
    source: 'doc2',
    promise: 'the OpenAI SDK works unchanged against the boundary, streaming and tools included',
  },
  {
    id: 'kn.chat.once',
    source: 'card',
    promise: 'one key asks the model once, also after a crash of any part; its answer is kept',
  },
  {
    id: 'kn.chat.tools',
    source: 'doc2',
    promise: "tool calls in a model's answer are decided before the caller sees them, in streams too",
  },
  {
    id: 'kn.approve.loop',
    source: 'doc2',
    promise: 'escalate, approve, repeat: executes once; another argument, amount, effect, fact, policy or use do not',
  },
  { id: 'kn.approve.page', source: 'card', promise: 'a person decides at approve_url; strangers learn nothing' },
  {
    id: 'kn.approve.webauthn',
    source: 'doc2',
    promise:
      'a passkey ceremony approves; wrong challenge, origin, rp id, signature, counter or missing user verification does not',
  },
  {
    id: 'kn.approve.quorum',
    source: 'doc2',
    promise: 'a quorum counts distinct people with distinct credentials and never the requester',
  },
  {
    id: 'kn.budget',
    source: 'doc2',
    promise:
      'spend, call, egress and write ceilings hold under 50 parallel calls, and reservations of crashed calls return',
  },
  {
    id: 'kn.receipts.list',
    source: 'doc2',
    promise: "receipts page and filter without loss, duplicate or another tenant's rows",
  },
  {
    id: 'kn.receipts.tail',
    source: 'doc2',
    promise:
      'the tail streams with and without agent, resumes after a broken connection without loss or duplicate, and lives longer than ten minutes',
  },
  {
    id: 'kn.proofgraph',
    source: 'doc2',
    promise: 'sessions, receipts of a session and receipt by hash are complete at 100,000 receipts',
  },
  {
    id: 'kn.chain',
    source: 'doc2',
    promise: 'any changed, removed, inserted or reordered receipt is detected offline',
  },
  {
    id: 'kn.log',
    source: 'doc2',
    promise: 'inclusion and consistency proofs verify with an independent RFC 9162 implementation',
  },
  { id: 'kn.checkpoint', source: 'doc2', promise: 'checkpoints are signed notes that an independent verifier accepts' },
  {
    id: 'kn.evidence.export',
    source: 'doc2',
    promise:
      'export is deterministic, carries X-Gov-Evidence-Hash, and verifies offline in CLI and browser without the server',
  },
  {
    id: 'kn.evidence.verify',
    source: 'doc2',
    promise: 'every single-byte change of a pack is detected; hostile archives are refused without harm',
  },
  {
    id: 'kn.envelopes',
    source: 'doc2',
    promise: 'dsse, jws and in-toto envelopes verify with independent libraries and never claim authority',
  },
  {
    id: 'kn.replay',
    source: 'doc2',
    promise:
      'replay reproduces recorded decisions, names the first divergence under another policy, and says when it cannot',
  },
  {
    id: 'kn.conformance',
    source: 'doc2',
    promise: 'a conformance run executes every vector; breaking any gate on purpose makes it fail',
  },
  {
    id: 'kn.mcp.server',
    source: 'doc2',
    promise: 'MCP clients of both protocol eras list and call governed tools of a real upstream server',
  },
  {
    id: 'kn.mcp.quarantine',
    source: 'doc2',
    promise: 'a new server is quarantined, an approved one is pinned, a changed or revoked one is blocked',
  },
  {
    id: 'kn.mcp.scan',
    source: 'doc2',
    promise: 'scan connects to the real server and finds planted hidden text, look-alikes and drift',
  },
  {
    id: 'kn.mcp.oauth',
    source: 'doc2',
    promise:
      'protected-resource metadata and 401/403 challenges follow RFC 9728; wrong audience, issuer, scope, expiry are refused',
  },
  {
    id: 'kn.sandbox',
    source: 'doc2',
    promise:
      'a granted tool cannot read outside its preopens, reach the network or outlive its limits; the denial is sealed',
  },
  {
    id: 'kn.authz',
    source: 'doc2',
    promise: 'relationship checks follow written tuples through groups, with snapshot id and path',
  },
  {
    id: 'kn.trust',
    source: 'doc2',
    promise: 'a rotated key keeps old receipts valid, a revoked key does not verify after its revocation time',
  },
  {
    id: 'kn.hostdrift',
    source: 'doc2',
    promise:
      'the four kinds of Boundary Drift are reported from an imported recorder chain, and unknown hardware roots are not verified',
  },
  {
    id: 'kn.agentui',
    source: 'doc2',
    promise: 'AG-UI clients accept the event stream of a run, interrupts and errors included',
  },
  { id: 'kn.agentcard', source: 'doc2', promise: 'the agent card is a valid, signed A2A card' },
  {
    id: 'kn.telemetry',
    source: 'doc2',
    promise: 'exported telemetry arrives at an OTLP collector and is marked non-authoritative',
  },
  {
    id: 'kn.demo',
    source: 'doc2',
    promise: "the demo routes run, verify and tamper without credentials and without touching tenants' data",
  },
  {
    id: 'kn.auth.classes',
    source: 'doc2',
    promise: "each route enforces its auth class: without, with a wrong and with another class's credential",
  },
  {
    id: 'kn.errors',
    source: 'doc2',
    promise:
      'every JSON route answers errors in the one envelope, also for malformed JSON, wrong method, unknown path, oversize body',
  },
  {
    id: 'kn.tenants',
    source: 'doc2',
    promise: "no route gives a tenant another tenant's record, not even its existence",
  },
  {
    id: 'kn.restart',
    source: 'doc2',
    promise: 'records, approvals, checkpoints, envelopes and budgets survive a restart and a second replica sees them',
  },
  {
    id: 'sys.quickstart',
    source: 'card',
    promise: 'on a fresh machine one README command runs the main job and one runs the tests',
  },
  {
    id: 'sys.parity',
    source: 'doc3',
    promise: 'the generated OpenAPI equals what the services answer, for every documented route',
  },
  ...promisesOfDocument3,
] as const satisfies readonly Promised[];

export type PromiseId = (typeof promises)[number]['id'];
