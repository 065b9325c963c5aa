import { ReasonCode, reasonCodes } from '@countersign/contracts';

/** Why a call was decided so, in words. A code that this console does not know stays as it is. */
export function reasonSays(code: string): string {
  const { data } = ReasonCode.safeParse(code);
  return data === undefined ? code : reasonCodes[data].says;
}
