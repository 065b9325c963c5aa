import { ReasonCode, reasonCodes } from '@countersign/contracts';

/** The reason of a decision in words. An unknown code is returned unchanged. */
export function reasonSays(code: string): string {
  const { data } = ReasonCode.safeParse(code);
  return data === undefined ? code : reasonCodes[data].says;
}
