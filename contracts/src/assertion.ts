import { z } from 'zod';
import { ApiKeyEnvironment } from './api-key-terms.ts';
import { ApiKeyId, PrincipalId, TenantId, UserId, WorkspaceId } from './scalars.ts';

/**
 * The role of the principal for whom the gateway calls the kernel. `agent` is the agent of a workspace or one of its
 * API keys. The other roles are those of its people.
 */
export const AssertionRole = z.enum(['agent', 'member', 'partner', 'owner']);
export type AssertionRole = z.infer<typeof AssertionRole>;

/**
 * An assertion states the caller once, to one service. It is not valid as any other token, and no other token is valid
 * as an assertion.
 */
export const assertionTerms = {
  type: 'countersign-assertion+jwt',
  issuer: 'countersign-gateway',
  audience: 'countersign-governance-kernel',
  /** Long enough for a repeated step, too short for an attacker who finds the assertion in a log. */
  lifeSecondsMax: 60,
} as const;

/**
 * The header of an assertion of this type. It contains no key, and no member that changes how the assertion is read.
 */
export function assertionHeader(type: string) {
  return z.strictObject({
    alg: z.literal('EdDSA'),
    typ: z.literal(type),
    /** The id of the key, which the reader has pinned. */
    kid: z.string().regex(/^key_[0-9a-f]{16}$/),
  });
}

const Seconds = z.int().min(0);

export const AssertionClaims = z
  .strictObject({
    iss: z.literal(assertionTerms.issuer),
    /** Exactly one audience. A list is rejected. */
    aud: z.literal(assertionTerms.audience),
    /** The principal. */
    sub: PrincipalId,
    /** The tenant. A tenant with a name of another form has no workspace, so the gateway cannot act in it. */
    workspace_id: TenantId.refine((id) => WorkspaceId.safeParse(id).success, 'must be the id of a workspace'),
    role: AssertionRole,
    /**
     * Version of the list of members from which `role` was read. The kernel accepts no vote while its own list is
     * older.
     */
    members_version: z.int().min(1).optional(),
    /**
     * Present for an agent: the person who started its run or created its key. This person does not approve its calls
     * if another person can.
     */
    sponsor: UserId.optional(),
    iat: Seconds,
    exp: Seconds,
  })
  .refine(({ iat, exp }) => exp > iat && exp - iat <= assertionTerms.lifeSecondsMax, {
    path: ['exp'],
    message: `must be at most ${assertionTerms.lifeSecondsMax} s after iat`,
  })
  .refine(speaksAsItself, {
    path: ['sub'],
    message: 'must be an agent or a key of the workspace, or one of its people',
  });
export type AssertionClaims = z.infer<typeof AssertionClaims>;

type Spoken = { workspace_id: string; sub: string; role: AssertionRole };

/** The names of requesters and approvers have different forms, so an assertion for one is not valid for the other. */
function speaksAsItself({ workspace_id, sub, role }: Spoken): boolean {
  if (role !== 'agent') return UserId.safeParse(sub).success;
  return sub === agentOf(workspace_id) || keyOfPrincipal(sub) !== null;
}

/** The API key of a principal `key:<id>` or `key:<environment>:<id>`. `null` for every other principal. */
export function keyOfPrincipal(principal: string): ApiKeyId | null {
  const [kind, ...path] = principal.split(':');
  const id = path.pop();
  const isKnown = path.length === 0 || (path.length === 1 && ApiKeyEnvironment.safeParse(path[0]).success);
  return kind === 'key' && isKnown ? (ApiKeyId.safeParse(id).data ?? null) : null;
}

/**
 * The principal of an API key in rules, budgets and fences. `environment` is `null` for keys of the whole workspace.
 */
export function keyPrincipal(keyId: ApiKeyId, environment: ApiKeyEnvironment | null = null): string {
  return environment === null ? `key:${keyId}` : `key:${environment}:${keyId}`;
}

/** The principal of a workspace's agent. */
export function agentOf(workspaceId: string): string {
  return `agent:${workspaceId}`;
}
