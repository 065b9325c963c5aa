import { AppError } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';

/** Everything with which a person can act. */
const access = ['sessions', 'keys', 'device_tokens', 'unused_approvals'] as const;

/** The effects of a change of a person, besides the row of the person. */
type UserEffect =
  /** Access ends; the account stays as it is. */
  | { readonly kind: 'end_access'; readonly ends: typeof access }
  | { readonly kind: 'deactivate'; readonly ends: typeof access }
  /** Sign-in is possible again. Sessions and keys that a deactivation ended stay ended. */
  | { readonly kind: 'reactivate' }
  | { readonly kind: 'rename'; readonly userName: string; readonly displayName: string | null };

type UserPlan = {
  readonly effects: readonly UserEffect[];
  /**
   * `null` when the request is accepted. After a refusal the effects are still applied, and the row stays unchanged.
   */
  readonly refusal: AppError | null;
};

export type Position = {
  readonly isOwner: boolean;
  /** Other active owners. */ readonly otherOwners: number;
};

/**
 * Returns the effects of a change. `after` is `null` when the person is deleted, which keeps the row and ends access.
 */
export function planUserChange(before: ScimUser, after: ScimUser | null, { isOwner, otherOwners }: Position): UserPlan {
  const isActive = after?.active === true;
  if (before.active && !isActive) {
    if (isOwner && otherOwners === 0) return { effects: [{ kind: 'end_access', ends: access }], refusal: lastOwner() };
    return { effects: [{ kind: 'deactivate', ends: access }, ...renames(before, after)], refusal: null };
  }
  const reactivation: UserEffect[] = !before.active && isActive ? [{ kind: 'reactivate' }] : [];
  return { effects: [...reactivation, ...renames(before, after)], refusal: null };
}

/** Creates the refusal for the last owner, which SCIM returns as 409. */
export function lastOwner(): AppError {
  return new AppError(
    'LAST_OWNER',
    'This person is the last owner of a workspace and stays an owner. Their sessions and keys have ended. Make another member an owner, then repeat the change.',
  );
}

function renames(before: ScimUser, after: ScimUser | null): UserEffect[] {
  if (after === null) return [];
  const isSame = before.userName === after.userName && before.displayName === after.displayName;
  return isSame ? [] : [{ kind: 'rename', userName: after.userName, displayName: after.displayName ?? null }];
}
