import { AppError } from '@countersign/contracts';
import type { PlainJson } from '@countersign/contracts';

/**
 * Names that express authority. Authority comes from credentials and from the kernel's own records. A caller who sends
 * such a name in `context` is refused, so that no rule can be tricked by it.
 */
export const reservedContextKeys = [
  'tenant',
  'tenant_id',
  'workspace',
  'workspace_id',
  'principal',
  'principal_id',
  'agent',
  'agent_id',
  'actor',
  'subject',
  'user',
  'user_id',
  'identity',
  'role',
  'roles',
  'scope',
  'scopes',
  'permissions',
  'relations',
  'groups',
  'trust_level',
  'trusted',
  'security_context_trusted',
  'budget',
  'budget_id',
  'approval',
  'approval_id',
  'approval_grant',
  'approved',
  'approved_by',
  'policy',
  'policy_hash',
  'policy_epoch',
  'effect_level',
  'verdict',
  'allow',
  'decision_id',
  'receipt_id',
  'sandbox_grant',
  'now',
  'session',
  'session_id',
  'tool_name',
  'destination',
  'admin',
  'is_admin',
  'authority',
  'authorization',
  'authorized',
  'claims',
  'credentials',
] as const;

const reserved = new Set(reservedContextKeys.map(plainName));

/**
 * Throws RESERVED_CONTEXT_KEY with the key. Spelling variants (case, accents, separators, `x-gov-`) are the same name.
 */
export function assertNoAuthority(context: Record<string, PlainJson>): void {
  const offender = Object.keys(context).find((key) => reserved.has(plainName(key)));
  if (offender !== undefined) {
    throw new AppError(
      'RESERVED_CONTEXT_KEY',
      `context.${offender} is reserved, since authority comes from credentials. Remove it`,
      {
        param: `context.${offender}`,
      },
    );
  }
}

/** Only letters and digits count, so no separator, visible or not, creates a different name. */
function plainName(key: string): string {
  return key
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/^x?gov(?=.)/, '');
}
