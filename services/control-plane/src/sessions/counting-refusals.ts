import { isAppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { countRefusal } from '../store/logins.ts';

/**
 * Runs a proof of identity, and counts a refusal on its login. Known and unknown addresses take the same path, so the
 * time of an answer does not reveal which are known.
 */
export async function countingRefusals<Proven>(
  { transaction }: Pick<Context, 'transaction'>,
  idHash: string,
  prove: () => Promise<Proven>,
): Promise<Proven> {
  try {
    return await prove();
  } catch (error) {
    if (isAppError(error) && error.code === 'CODE_INVALID') await transaction((tx) => countRefusal(tx, idHash));
    throw error;
  }
}
