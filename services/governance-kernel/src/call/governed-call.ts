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

/** Who calls, never as claimed in a body. Without a credential of their own they came with the key of the operators. */
export type Caller = {
  tenant: TenantId;
  principal: PrincipalId;
  /** The scopes of a verified token, or as an operator states them. `*`: the operator's own. */
  scopes: string[];
  /** The audience of that token. */
  resource?: string | undefined;
  /** The key that the caller came with; the decision judges it as it is then. */
  accessKey?: AccessKeyId;
  /** The key that the caller's token is signed with; judged in the same way. */
  agentKey?: KeyThumbprint;
  /** A visitor of the demo, whom the kernel itself names. */
  isVisitor?: true;
  /** The client that a verified access token of the operator's authorization server was issued to. */
  oauth?: { readonly clientId: string | null };
  /** The gateway's word for who calls, and the key that it was signed with. */
  assertion?: {
    readonly keyId: string;
    readonly role: AssertionRole;
    /** The version of the list of members that the role was read from. 0: the gateway named none. */
    readonly membersVersion: number;
    /** The person behind an agent: who started its run or made its key. `null` when the gateway named none. */
    readonly sponsor: PrincipalId | null;
  };
  /** The door by which the call came in; used by measures, and judged by nothing. */
  door?: Door | undefined;
};

type Named = {
  caller: Caller;
  session: SessionId;
  args: Record<string, PlainJson>;
  /** The arguments are no object, or cannot be read for this reason; `args` is {} then and the request gate denies. */
  malformedArguments?: boolean | string;
  context: Record<string, PlainJson>;
  /** The effect that the caller declares. It raises what is declared for tool and action, and never lowers it. */
  effectLevel?: EffectLevel | undefined;
  approvalGrant?: ApprovalId | undefined;
  /** Hash of the definition of the tool that the caller knows. */
  knownDefinition?: string | undefined;
  /**
   * The accesses that its process needs, and the grant that the caller knows: it is compared with the grant in force.
   */
  sandbox?: { request: SandboxRequest; grantHash: Digest | undefined } | undefined;
  /** Why the destination of a `data.egress` is refused, whatever the policy allows. */
  blockedDestination?: string | undefined;
  /** The part of the demand that only the door knows; the boundary counts the rest. */
  demand?: Partial<Demand> | undefined;
  /** Commits in the decision's own transaction; the same key and fingerprint again gives the same decision. */
  idempotency?: { key: string; route: string; fingerprint: string } | undefined;
};

/** The call of a tool, by any name that it has. */
export type ToolCall = Named & {
  kind: 'tool';
  tool: string;
  resource: string | null;
};

type ModelCall = Named & { kind: 'model'; model: string };

/** An action in the tenant's own words. A tool that it names is judged as that tool. */
type CustomCall = Named & { kind: 'custom'; action: string; tool: string | null; resource: string | null };

/** One consequential call as its door names it. The boundary determines its kind, its effect and its tool. */
export type NamedCall = ToolCall | ModelCall | CustomCall;

/**
 * A call that another party than the kernel executes. `caller`: its demand is committed with the decision, because the
 * kernel never learns its outcome. `caller`: what it takes is committed with the decision, because the kernel never
 * hears how it ended. `owner`: a proposal, to be executed by the owner of the tool. The execution of a registered tool
 * comes here and is decided again, so its proposal is judged in full and takes nothing, or one act would be paid for
 * twice.
 */
export type GovernedCall = NamedCall & {
  mode: 'enforce' | 'shadow';
  dispatchedBy: 'caller' | 'owner';
  /** An escalation opens no approval, since there is no approver. */
  asksNobody?: true;
};

/** The raw arguments of a caller. The door accepts any value: the boundary denies bad ones. */
export function givenArguments(given: unknown): Pick<Named, 'args' | 'malformedArguments'> {
  return isObject(given) ? { args: given } : { args: {}, malformedArguments: true };
}

/** Whatever a door parsed is plain JSON. */
export function isObject(value: unknown): value is Record<string, PlainJson> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Written = { action: string; tool?: string | null | undefined; resource?: string | null | undefined };
type Meant = Pick<ToolCall, 'kind' | 'tool' | 'resource'> | Pick<CustomCall, 'kind' | 'action' | 'tool' | 'resource'>;

/** The call that a caller means by action, tool and resource. */
export function meantBy({ action, tool = null, resource = null }: Written): Meant {
  return action === 'tool.call' && tool !== null
    ? { kind: 'tool', tool, resource }
    : { kind: 'custom', action, tool, resource };
}
