import type { Promised } from './promised.ts';

/** The promises of the document about control plane, console and commercial gateway. */
export const promisesOfDocument3 = [
  {
    id: 'cp.login',
    source: 'doc3',
    promise:
      'a passkey, a code and an OIDC provider each sign a browser in; wrong challenge, origin, state, nonce, issuer, signature or verifier does not; known and unknown addresses answer alike',
  },
  {
    id: 'cp.session',
    source: 'doc3',
    promise:
      "a stolen refresh cookie used after its owner's ends the whole family, a mutation without the CSRF header changes nothing, and a deleted session loses its requests and sockets within a second",
  },
  {
    id: 'cp.reauth',
    source: 'doc3',
    promise:
      'every session_reauth route answers 401 with the RFC 9470 challenge when the last proof of presence is older than five minutes, and has changed nothing',
  },
  {
    id: 'cp.device',
    source: 'doc3',
    promise:
      "an RFC 8628 client gets a token only after a person confirmed the shown code, bound to one workspace and at most that person's role; slow_down, denial, expiry and second use behave as the RFC says",
  },
  {
    id: 'cp.tenancy',
    source: 'doc3',
    promise:
      'on every control-plane and commercial route a foreign, an unknown and a missing id give byte-identical 404 answers (matrix generated from the contracts)',
  },
  {
    id: 'cp.bootstrap',
    source: 'doc3',
    promise:
      'bootstrap repeated with the same key makes one org and one workspace, whose id is at once a gateway workspace and a kernel tenant that is allowed and denied by the starter policy',
  },
  {
    id: 'cp.run',
    source: 'doc3',
    promise:
      "a run started in the console is the gateway's run: its tool calls have kernel receipts under its id, complete and verified offline",
  },
  {
    id: 'cp.operator',
    source: 'doc3',
    promise:
      'each governed change (table in the contract) leaves a sealed decision with the person as principal; a policy that denies that action makes the route 403 and leaves the object as it was',
  },
  {
    id: 'cp.stops',
    source: 'doc3',
    promise:
      'freeze, throttle, quarantine, disable and revoke take effect although the policy denies everything, is missing or is stale',
  },
  {
    id: 'cp.approval',
    source: 'doc3',
    promise:
      "an approval resolved in the console is the kernel's: its passkey assertion verifies offline, the parked call runs once, and the requester, an API key, a channel message, a stale ceremony_hash and, once a passkey is enrolled, a bearer vote at any door cannot approve it",
  },
  {
    id: 'cp.policy.activate',
    source: 'doc3',
    promise:
      'after activation the next decision of every kernel replica carries the new hash and epoch, a receipt of kind policy and the what-if hash in the signed decision prove offline what the operator had seen, and of two activations from one base exactly one wins',
  },
  {
    id: 'cp.policy.gate',
    source: 'doc3',
    promise:
      'a failing test, no report, a report of another hash or older than an hour, an unverifiable receipt, unacknowledged widening, a stale If-Match or an old sign-in each stop activation, and the active hash has not changed',
  },
  {
    id: 'cp.policy.whatif',
    source: 'doc3',
    promise:
      'the transition matrix equals a brute-force re-decision of the same records, names every widened verdict, says which field is missing where it cannot, and the same draft and tree size give the same report hash',
  },
  {
    id: 'cp.policy.test',
    source: 'doc3',
    promise:
      'a difference kept as a test fails against the draft that caused it and blocks its activation until the draft satisfies it',
  },
  {
    id: 'cp.policy.shadow',
    source: 'doc3',
    promise:
      'a shadow policy that would allow or deny everything changes no verdict, and its divergence equals a count over the records',
  },
  {
    id: 'cp.policy.lockout',
    source: 'doc3',
    promise:
      'a draft that would lock every person out of policy changes is refused at compile, and a dead control plane ends as POLICY_STALE and not as an open boundary',
  },
  {
    id: 'cp.freeze',
    source: 'doc3',
    promise:
      'within a second of effective_at no kernel replica dispatches on any governed route in the scope, parked calls included, calls already sent are listed until settled, and resume brings it back',
  },
  {
    id: 'cp.freeze.order',
    source: 'doc3',
    promise:
      'commands given while the kernel is away are shown as unconfirmed, delivered on its return in epoch order, and an older one never undoes a newer one',
  },
  {
    id: 'cp.quarantine',
    source: 'doc3',
    promise:
      'quarantine of one agent, tool or connector stops that one and no other, and a throttle of N lets exactly N of 50 parallel calls through',
  },
  {
    id: 'cp.plan',
    source: 'doc3',
    promise:
      'the dry run names exactly the runs, agents, tools, approvals and dispatches that the commit then touches, equal when computed twice at one tree size; a plan commits once, with its approved hash, and not when it now reaches further; it ends at its TTL',
  },
  {
    id: 'cp.incident',
    source: 'doc3',
    promise:
      'only the published incident moves are accepted, an incident does not resolve while an unnamed fence of its own stands, and planted drift opens one by itself',
  },
  {
    id: 'cp.connector',
    source: 'doc3',
    promise:
      'an installed connector is quarantined at the kernel and its calls escalate until it is approved and pinned; a description changed upstream shows as drift with its diff and is denied; disabled, the next call is denied; a catalogue with a changed byte registers nothing',
  },
  {
    id: 'cp.shim',
    source: 'doc3',
    promise:
      "a shim's credential reaches the tools of its connector and no other, counts as active only after a sealed call, and is dead at the next call after revocation",
  },
  {
    id: 'cp.hold',
    source: 'doc3',
    promise:
      'what a legal hold covers survives delete routes, retention sweeps and workspace deletion in every service; after its release by the rule of the policy the same sweep removes it',
  },
  {
    id: 'cp.jurisdiction',
    source: 'doc3',
    promise:
      'selecting a jurisdiction makes a draft without its rules fail to compile and raises the retention floor; two rules of equal priority that conflict escalate',
  },
  {
    id: 'cp.evidence',
    source: 'doc3',
    promise:
      'a bundle made in the console verifies in CLI and browser with all services stopped, any changed byte is named, and a bundle that does not verify never becomes ready',
  },
  {
    id: 'cp.report.html',
    source: 'doc3',
    promise:
      "the one-file report opens without network under default-src 'none', shows four verdicts, turns red when its button changes one byte, and has the same bytes when made twice",
  },
  {
    id: 'cp.replay',
    source: 'doc3',
    promise:
      'a replay reproduces recorded verdicts and names the first difference; its public read holds no argument, tool, principal or tenant',
  },
  {
    id: 'cp.public',
    source: 'doc3',
    promise:
      'public routes and handles answer exactly the allow-listed members; unpublished, expired, revoked, unknown and foreign ids are indistinguishable in bytes and, within noise, in time; a session cookie changes nothing',
  },
  {
    id: 'cp.public.browser',
    source: 'doc3',
    promise:
      'the proof page verifies inclusion in the signed log in the browser with pinned keys, accepts the dropped original, refuses a changed one, and sends no byte of it anywhere',
  },
  {
    id: 'cp.skill',
    source: 'doc3',
    promise:
      'a skill is promoted only after its cases passed on that very content and by another person; an uncertified one is given to no run, and a run with a skill cannot call a tool outside it',
  },
  {
    id: 'cp.claim',
    source: 'doc3',
    promise:
      'a claim is accepted only with two sources of different origin and by another person, and a policy rule that requires it turns from DENY to ALLOW with acceptance and back with expiry',
  },
  {
    id: 'cp.channel',
    source: 'doc3',
    promise:
      'inbound messages with a wrong, stale or replayed signature (Slack v0 vectors included) store nothing, unknown senders are quarantined, an escalation reaches its approvers with a link and without arguments, and no approval is possible from a channel',
  },
  {
    id: 'cp.delivery',
    source: 'doc3',
    promise:
      'a notification carries a signature that an independent Standard Webhooks library accepts, is retried on failure, keeps its id on redrive, and is never sent to a private address',
  },
  {
    id: 'cp.runtime',
    source: 'doc3',
    promise:
      'a runtime that falls silent or behind the policy epoch is shown as stale or lagging, and the public status holds mode, posture and counts alone',
  },
  {
    id: 'cp.genesis',
    source: 'doc3',
    promise:
      'a ceremony with too few people, a skipped phase, a changed artefact or a running timelock sets nothing; activated, its ceilings deny what they forbid and the kernel refuses a bundle or budget that weakens them',
  },
  {
    id: 'cp.research',
    source: 'doc3',
    promise:
      'a mission can reach only listed hosts with reading effects, each cited source still has its digest, and nothing is published by its author alone',
  },
  {
    id: 'cp.hints',
    source: 'doc3',
    promise:
      'socket messages hold references only, a ticket works once within 30 seconds, a dropped message is repaired by the snapshot, and an unchanged snapshot is a 304',
  },
  {
    id: 'cp.audit',
    source: 'doc3',
    promise:
      'every mutation and refusal of an operator is in a hash chain whose edited or missing row is detected, and an audit pack of a period verifies across all services',
  },
  {
    id: 'ui.pages',
    source: 'doc3',
    promise:
      'each page of the contract reaches its main action with the keyboard alone against real services, its empty state offers something that works, and axe finds nothing in light and dark, at 1280 and 390 px',
  },
  {
    id: 'ui.csp',
    source: 'doc3',
    promise:
      'no page reports a CSP violation, runs inline script, keeps a token in storage or asks another origin, also when tool names, arguments and descriptions are hostile markup',
  },
  {
    id: 'ui.budget',
    source: 'doc3',
    promise: 'first load is at most 250 kB gzipped and a list of 100,000 receipts scrolls without a frame over 100 ms',
  },
  {
    id: 'ui.cli',
    source: 'doc3',
    promise: 'the command copied from any list prints the same ids in the same order as the list',
  },
  {
    id: 'ui.approve',
    source: 'doc3',
    promise:
      'on a phone-sized screen an approver sees the exact arguments, the rule and the radius, and approves with a passkey; what ran equals what was shown',
  },
  {
    id: 'ui.truth',
    source: 'doc3',
    promise:
      'with the socket cut or the kernel away the console says so and never shows an approval, policy or fence as in force that is not',
  },
  {
    id: 'cg.doors',
    source: 'doc3',
    promise:
      'each object of the basic API read through the console has the same id and state, and no change through the basic door skips a gate that holds at the other',
  },
  {
    id: 'cg.keys',
    source: 'doc3',
    promise:
      'a key works within its scopes, environment and expiry, is told apart by policy through its principal, and never approves, commits, resumes or makes keys',
  },
  {
    id: 'cg.spend',
    source: 'doc3',
    promise:
      'spend recorded through budget/record is counted once per event id and is what the next kernel decision on that budget sees',
  },
  {
    id: 'cg.lane',
    source: 'doc3',
    promise:
      'after runtime/stop no queued run of the workspace is leased and the running step ends; after start they run, none twice',
  },
  {
    id: 'cg.metering',
    source: 'doc3',
    promise:
      'replaying, reordering and doubling usage events leaves totals equal, and each usage line of an invoice leads to receipts that verify and sum to it',
  },
  {
    id: 'cg.ledger',
    source: 'doc3',
    promise:
      'every ledger transaction sums to zero per currency under concurrent charges, credits, refunds and crashes, and no entry can be changed',
  },
  {
    id: 'cg.stripe',
    source: 'doc3',
    promise:
      'the Stripe adapter pays an invoice against a fake of its HTTP API; webhooks with wrong, stale or reused signatures change nothing, doubled and reordered ones change it once',
  },
  {
    id: 'cg.entitlement',
    source: 'doc3',
    promise:
      "the call, run, member or connector beyond a plan's limit is refused and the one before it is not; stops, denials, verification and export of one's own evidence never are",
  },
  {
    id: 'cg.outage',
    source: 'doc3',
    promise:
      'with the commercial gateway stopped for a whole test run governed work, approvals, stops and public proof go on, limits stay as last known, and usage is complete after its return',
  },
  {
    id: 'cg.licence',
    source: 'doc3',
    promise:
      'a licence verifies without network; altered, foreign and expired ones are refused; a trial starts once and its end deletes nothing',
  },
  {
    id: 'cg.scim',
    source: 'doc3',
    promise:
      'a SCIM client written by others provisions users and groups (PATCH, filter, paging, ETag, errors) in its own org only; active:false ends sessions, keys, device tokens and unused approvals within five seconds, and the last owner stays',
  },
  {
    id: 'cg.compliance',
    source: 'doc3',
    promise:
      'a control without receipts is reported as no_evidence, each cited receipt verifies, and the same period gives the same report bytes',
  },
  {
    id: 'sys.person',
    source: 'doc3',
    promise:
      'one person is one id in gateway, control plane, commercial gateway and receipts, whichever way they signed in, and a header that claims another is ignored',
  },
  {
    id: 'sys.support',
    source: 'doc3',
    promise:
      'a support report of any failed request holds version, mode, request id, receipt or reason code and policy hash, and no planted secret or body value appears in it',
  },
  {
    id: 'sys.additive',
    source: 'doc3',
    promise:
      'a client generated from the last released contract works against this build, and CI refuses a removed route, member or code without a migration note',
  },
  {
    id: 'kn.serve',
    source: 'doc2',
    promise:
      '`countersign serve` is a local policy boundary on 127.0.0.1:7714 that decides, seals and refuses as the kernel does, with no server beside it',
  },
  {
    id: 'kn.registry.file',
    source: 'doc2',
    promise:
      'standalone command-line runs keep boundary state in the registry file (GOV_BOUNDARY_REGISTRY_PATH, else boundary/surfaces.json under GOV_DATA_DIR), so that records, approvals, checkpoints, envelopes and budget changes survive separate invocations, also when one is killed',
  },
] as const satisfies readonly Promised[];
