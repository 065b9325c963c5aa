import type { Judge } from '@countersign/judge';
import type { Digest } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { DatabaseClock } from '@countersign/database';
import type { MessageBus, NewEvent, OutboxRelay } from '@countersign/messaging';
import type { AssertionVerifier, GuardRequest, Log, Telemetry } from '@countersign/service-kit';
import type { PresentedKeys } from './controls/access-keys/presented-keys.ts';
import type { ApproverSessions } from './doors/approver-pages/sessions.ts';
import type { ArgsCipher } from './controls/approvals/args-cipher.ts';
import type { BoundaryDeps } from './decision/boundary.ts';
import type { Dispatch } from './decision/dispatch.ts';
import type { KeptAnswers } from './decision/kept-answers.ts';
import type { Boundary } from './decision/sealed-decision.ts';
import type { readVectors } from './evidence/conformance/read-vectors.ts';
import type { RunCredential } from './evidence/conformance/run-credential.ts';
import type { runVectors } from './evidence/conformance/run-vectors.ts';
import type { CallableToolsDeps } from './doors/mcp/callable-tools.ts';
import type { ReadableResourcesDeps } from './doors/mcp/readable-resources.ts';
import type { McpSessions } from './doors/mcp-session/mcp-sessions.ts';
import type { DemoAllowance } from './doors/demo/demo-allowance.ts';
import type { AgentTokens } from './controls/identities/agent-tokens.ts';
import type { KeyChallenges } from './controls/identities/key-challenges.ts';
import type { KernelConfig } from './kernel-config.ts';
import type { LedgerClockGuard } from './ledger/clock-guard.ts';
import type { GroupCommit } from './ledger/group-commit.ts';
import type { KeyGuard } from './ledger/key-guard.ts';
import type { OauthTokens } from './doors/oauth/oauth-tokens.ts';
import type { PasskeyDeps } from './controls/passkeys/passkey-deps.ts';
import type { Confirmations } from './controls/policy/confirmations.ts';
import type { Policies } from './controls/policy/policies.ts';
import type { ProveReceipt } from './evidence/proof/prove-receipt.ts';
import type { signedHeads } from './evidence/proof/signed-heads.ts';
import type { WitnessContradictions } from './evidence/proof/witness-contradictions.ts';
import type { Relations } from './controls/relations/relation-source.ts';
import type { runSelfTest } from './decision/self-test/self-test.ts';
import type { DeskDeps } from './doors/server-registry/registry-desk.ts';
import type { createSigners, evidenceSignerOf } from './signers.ts';
import type { StandingDeps } from './doors/status/boundary-status.ts';
import type { KernelDatabase } from './store/database.ts';
import type { idempotencyStore } from './store/idempotency-store.ts';
import type { shown } from './store/shown-database.ts';
import type { LogWatch } from './evidence/tail/log-watch.ts';
import type { PublishedKeys } from './evidence/trust/published-keys.ts';
import type { createUpstreams } from './upstreams.ts';

type Shown = ReturnType<typeof shown>;
type Upstreams = ReturnType<typeof createUpstreams>;

/** The collaborators of the kernel in twelve groups. Domain code receives the members that it uses. */
export type KernelContext = Settings &
  Time &
  Observation &
  Signing &
  Databases &
  LedgerAndLog &
  Messages &
  Rules &
  Decisions &
  Upstream &
  Credentials &
  Checks & { close(): Promise<void> };

/** The configuration, and limits that are derived from it. */
type Settings = {
  readonly config: KernelConfig;
  /** The most receipts of a period in one export. */
  readonly periodReceiptsMax: number;
  /** The wait of a model's answer for an unavailable ledger. */
  readonly ledgerAwayMsMax: number;
  readonly dispatchMsMax: number;
  readonly toolCallMsMax: number;
  readonly prices: KernelConfig['modelPrices'];
  readonly approverKeys: KernelConfig['approverKeys'];
};

type Time = {
  /** The kernel's clock. */
  readonly clock: () => Date;
  readonly databaseNow: DatabaseClock;
  /** Compares the clock of this machine with that of the database. */
  readonly clockGuard: LedgerClockGuard;
};

/** Logs, traces and metrics. */
type Observation = {
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** `null` when no collector is configured. */
  readonly tracer: Telemetry['tracer'];
};

/** Hashes, signatures and identifiers. */
type Signing = {
  readonly provider: CryptoProvider;
  readonly signers: ReturnType<typeof createSigners>;
  /** `null` when no evidence key is configured. */
  readonly evidenceSigner: ReturnType<typeof evidenceSignerOf>;
  readonly keyGuard: KeyGuard;
  readonly publishedKeys: PublishedKeys;
  readonly argsCipher: ArgsCipher;
  readonly rosterHash: Digest;
  readonly newUlid: (nowMs?: number) => string;
};

type Databases = Pick<Shown, 'database' | 'pool' | 'reader' | 'transaction'> & {
  /** Separate connections for exports, which take as long as their readers. */
  readonly exports: KernelDatabase;
};

/** The log of receipts, and its proofs. */
type LedgerAndLog = ReturnType<typeof signedHeads> & {
  readonly ledger: GroupCommit;
  readonly logWatch: LogWatch;
  readonly witnessContradictions: WitnessContradictions;
  readonly judge: Judge;
  readonly proveReceipt: ProveReceipt;
};

type Messages = {
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  readonly newEvent: NewEvent;
};

/** Policies and relations. */
type Rules = Pick<Shown, 'standingRelations' | 'relationTurns' | 'permissions'> & {
  readonly policies: Policies;
  readonly confirmations: Confirmations;
  readonly relations: Relations;
};

/** The decision cycle, and the answers that it stored. */
type Decisions = {
  readonly cycle: BoundaryDeps;
  readonly boundary: Boundary;
  readonly dispatch: Dispatch;
  readonly answers: ReturnType<typeof idempotencyStore>;
  readonly keptAnswers: KeptAnswers;
  readonly standing: StandingDeps;
};

/** Models and MCP servers. Calls reach them only through the dispatch. */
type Upstream = ReturnType<Upstreams['behind']> &
  Pick<Upstreams, 'mcp' | 'modelList'> & {
    readonly upstreams: Upstreams;
    readonly registryDesk: DeskDeps;
    readonly mcpSessions: McpSessions;
    readonly callableTools: CallableToolsDeps & ReadableResourcesDeps;
  };

/** Verifiers of the credentials of callers. */
type Credentials = {
  /** Verifies the credential of a request again. Rejects when it is not accepted any more. */
  readonly verifyCaller: (request: GuardRequest) => Promise<void>;
  readonly presentedKeys: PresentedKeys;
  readonly assertions: ReturnType<typeof AssertionVerifier.ofWorkspaces>;
  readonly agentTokens: AgentTokens;
  /** `null` without an authorization server. */
  readonly oauthTokens: OauthTokens | null;
  readonly keyChallenges: KeyChallenges;
  readonly approverSessions: ApproverSessions;
  readonly passkeys: PasskeyDeps;
};

/** The self-test at start, runs of the conformance suite, and the demo. */
type Checks = {
  readonly selfTest: Awaited<ReturnType<typeof runSelfTest>>;
  readonly vectors: ReturnType<typeof readVectors>;
  readonly runCredential: RunCredential;
  readonly conformance: {
    run(request: Parameters<typeof runVectors>[1]): ReturnType<typeof runVectors>;
    /** Sets the address of this process, since a run calls its own kernel like any other caller. */
    listensAt(at: string): void;
  };
  readonly demoAllowance: DemoAllowance;
};
