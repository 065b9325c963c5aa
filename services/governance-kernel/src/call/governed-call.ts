import type {
  AccessKeyId,
  ApprovalId,
  EffectLevel,
  PlainJson,
  PrincipalId,
  SessionId,
  TenantId,
} from '@countersign/contracts';
import type { Demand, Fact, IdentityFact, RegistryFact } from '@countersign/policy';

/** Who calls, as proven by credentials; never as claimed in a body. */
export type Caller = {
  tenant: TenantId;
  principal: PrincipalId;
  identity: IdentityFact;
  scopes: string[];
  /** The key that the caller came with; the decision judges it as it is then. */
  accessKey?: AccessKeyId;
};

/** One consequential call on its way through the decision cycle, whatever route it came by. */
export type GovernedCall = {
  caller: Caller;
  session: SessionId;
  action: string;
  tool: string | null;
  resource: string | null;
  /** Declared by the tool or the caller; undeclared is E4. */
  effectLevel: EffectLevel;
  args: Record<string, PlainJson>;
  context: Record<string, PlainJson>;
  approvalGrant?: ApprovalId | undefined;
  /** The arguments could not be parsed into an object; `args` is {} then and the request gate denies. */
  malformedArguments?: true;
  mode: 'enforce' | 'shadow';
  /** What the call takes from budgets; absent members are 0, except tool_calls which is 1 for tool.call. */
  demand?: Partial<Demand>;
  /**
   * Who executes after an ALLOW. `kernel`: the reservation stays open until settle(); `caller`: it is committed with the decision,
   * because the kernel never hears how it ended. `nobody`: a proposal, whose execution comes here and is decided again; it is judged
   * in full and takes nothing, or one act would be paid for twice.
   */
  dispatchedBy: 'kernel' | 'caller' | 'nobody';
  /** What the route learned of the tool; each route says so, also where there is nothing to learn. */
  registry: Fact<RegistryFact>;
  /** Commits in the decision's own transaction; the same key and fingerprint again gives the same decision. */
  idempotency?: { key: string; route: string; fingerprint: string } | undefined;
};
