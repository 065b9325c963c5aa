import { expect } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { assertNoAuthority } from '../src/call/reserved-context.ts';

/** A second list, so that a name that is dropped from the list of the kernel is noticed. */
const names =
  `tenant tenant_id workspace workspace_id principal principal_id agent agent_id actor subject user user_id identity role
  roles scope scopes permissions relations groups trust_level trusted security_context_trusted budget budget_id approval approval_id
  approval_grant approved approved_by policy policy_hash policy_epoch effect_level verdict allow decision_id receipt_id sandbox_grant
  now session session_id tool_name destination admin is_admin authority authorization authorized claims credentials`.split(
    /\s+/,
  );

function refused(key: string): boolean {
  try {
    assertNoAuthority({ [key]: 'x' });
    return false;
  } catch (error) {
    return isAppError(error) && error.code === 'RESERVED_CONTEXT_KEY';
  }
}

verifies('kn.context', 'each name with authority is refused in the context, and ordinary names are accepted', () => {
  expect(names.filter((name) => !refused(name))).toEqual([]);
  expect(['ticket', 'purpose', 'customer_tier'].filter(refused)).toEqual([]);
});
