import type { Context } from '../context.ts';
import { gatewayAnswers } from '../siblings/gateway-answers.ts';
import { finishLogin } from '../store/logins.ts';
import type { StoredSession } from '../store/sessions.ts';
import { codeInvalid } from './code-invalid.ts';
import { countingRefusals } from './counting-refusals.ts';

/**
 * Checks that the person of a session knows the code that was sent to them. Throws CODE_INVALID, GATEWAY_UNAVAILABLE.
 */
export async function proveByCode(
  context: Pick<Context, 'directory' | 'now' | 'transaction'>,
  { userId }: StoredSession,
  { idHash, code }: { idHash: string; code: string },
): Promise<void> {
  await countingRefusals(context, idHash, async () => {
    await gatewayAnswers(() => context.directory.proveUser({ params: { user_id: userId }, body: { code } }));
    const isFirst = await context.transaction((tx) => finishLogin(tx, { idHash, userId }, context.now()));
    if (!isFirst) throw codeInvalid();
  });
}
