import type {
  AccessKeyId,
  ApprovalId,
  AssertionRole,
  Digest,
  Door,
  EffectLevel,
  PlainJson,
  PrincipalId,
  SessionId,
  TenantId,
} from '@countersign/contracts';
import type { KeyThumbprint, SandboxRequest } from '@countersign/contracts/governance-kernel';
import type { Demand } from '@countersign/policy';

/**
 * The caller, never as claimed in a body. A caller without its own credential used the operator key, or is a visitor of
 * the demo.
 */
export type Caller = {
  tenant: TenantId;
  principal: PrincipalId;
  /**
   * The scopes of a verified access token, or as an operator states them. `*` for operators themselves and visitors of
   * the demo. Empty for all other callers.
   */
  scopes: string[];
  /** The audience of the verified access token, or as an operator states it. */
  resource?: string | undefined;
  /** The key of the caller, which is judged in its state at the decision. */
  accessKey?: AccessKeyId;
  /** The key that signed the caller's token. It is judged in its state at the decision. */
  agentKey?: KeyThumbprint;
  /** A visitor of the demo, whose name the kernel chooses. */
  isVisitor?: true;
  /** The client that the operator's authorization server issued the verified access token to. */
  oauth?: { readonly clientId: string | null };
  /** The gateway's statement of the caller, and the key that signed it. */
  assertion?: {
    readonly keyId: string;
    readonly role: AssertionRole;
    /** The version of the list of members from which the role was read. 0 when the gateway stated none. */
    readonly membersVersion: number;
    /** The person behind an agent, who started its run or created its key. `null` when the gateway stated none. */
    readonly sponsor: PrincipalId | null;
  };
  /** The entry point of the call. Metrics use it, and no rule does. */
  door?: Door | undefined;
};

type Named = {
  caller: Caller;
  session: SessionId;
  args: Record<string, PlainJson>;
  /**
   * `true` when the arguments are not an object, or the reason why they are unreadable. `args` is then {}, and the
   * request gate denies.
   */
  malformedArguments?: boolean | string | undefined;
  context: Record<string, PlainJson>;
  /** The effect that the caller declares. It can raise the effect of tool and action, and never lowers it. */
  effectLevel?: EffectLevel | undefined;
  approvalGrant?: ApprovalId | undefined;
  /** Hash of the tool definition that the caller knows. */
  knownDefinition?: string | undefined;
  /**
   * The accesses that the tool's process needs, and the grant that the caller knows, which is compared with the
   * current grant.
   */
  sandbox?: { request: SandboxRequest; grantHash: Digest | undefined } | undefined;
  /** The reason why the destination of a `data.egress` is refused, whatever the policy allows. */
  blockedDestination?: string | undefined;
  /** The part of the demand that only the route knows. The boundary counts the rest. */
  demand?: Partial<Demand> | undefined;
  /** Committed with the decision. A repeated request with the same key and fingerprint gets the same decision. */
  idempotency?: { key: string; route: string; fingerprint: string } | undefined;
};

/** The call of a tool, by any of its names. */
export type ToolCall = Named & {
  kind: 'tool';
  tool: string;
  resource: string | null;
};

type ModelCall = Named & { kind: 'model'; model: string };

/** An action defined by the tenant. If it names a tool, the declarations and stops of that tool apply to it. */
type CustomCall = Named & { kind: 'custom'; action: string; tool: string | null; resource: string | null };

/** One consequential call as its route states it. The boundary determines its kind, its effect and its tool. */
export type NamedCall = ToolCall | ModelCall | CustomCall;

/**
 * A call that the kernel does not execute itself. `caller`: its demand is committed with the decision, because the
 * kernel never learns its outcome. `owner`: a proposal, to be executed by the owner of the tool. The execution of a
 * registered tool is decided again, so its proposal is judged in full and consumes nothing. Otherwise, one act would be
 * counted twice.
 */
export type GovernedCall = NamedCall & {
  mode: 'enforce' | 'shadow';
  dispatchedBy: 'caller' | 'owner';
  /** An escalation opens no approval, since there is no approver. */
  asksNobody?: true;
};

type Evaluated = Pick<
  GovernedCall,
  | 'approvalGrant'
  | 'args'
  | 'caller'
  | 'context'
  | 'demand'
  | 'dispatchedBy'
  | 'effectLevel'
  | 'idempotency'
  | 'malformedArguments'
  | 'mode'
  | 'session'
>;

/** The call that `evaluate` decides. Two literals, since copying members for each decision would cost much. */
export function evaluatedCall(written: Written, stated: Evaluated): GovernedCall {
  const { action, tool = null, resource = null } = written;
  const { caller, session, args, malformedArguments, context, effectLevel } = stated;
  const { approvalGrant, demand, idempotency, mode, dispatchedBy } = stated;
  if (action !== 'tool.call' || tool === null) {
    return {
      kind: 'custom',
      action,
      tool,
      resource,
      caller,
      session,
      args,
      malformedArguments,
      context,
      effectLevel,
      approvalGrant,
      demand,
      idempotency,
      mode,
      dispatchedBy,
    };
  }
  return {
    kind: 'tool',
    tool,
    resource,
    caller,
    session,
    args,
    malformedArguments,
    context,
    effectLevel,
    approvalGrant,
    demand,
    idempotency,
    mode,
    dispatchedBy,
  };
}

/** The raw arguments of a caller. The route accepts any value, and the boundary denies bad ones. */
export function givenArguments(input: unknown): Pick<Named, 'args' | 'malformedArguments'> {
  return isObject(input) ? { args: input } : { args: {}, malformedArguments: true };
}

/** The narrowed type is safe, since the route has parsed plain JSON. */
export function isObject(value: unknown): value is Record<string, PlainJson> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Written = { action: string; tool?: string | null | undefined; resource?: string | null | undefined };
type Meant = Pick<ToolCall, 'kind' | 'tool' | 'resource'> | Pick<CustomCall, 'kind' | 'action' | 'tool' | 'resource'>;

/** The call that a caller describes by action, tool and resource. */
export function meantBy({ action, tool = null, resource = null }: Written): Meant {
  return action === 'tool.call' && tool !== null
    ? { kind: 'tool', tool, resource }
    : { kind: 'custom', action, tool, resource };
}
