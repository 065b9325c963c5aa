import { isAppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { countRefusal } from '../store/logins.ts';

/**
 * Proves who somebody is, and counts a refusal on the login that it was for. Whose address it is changes nothing here, so that time does
 * not tell whether we know it.
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
