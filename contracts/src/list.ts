import { z } from 'zod';

/** The default and the maximum page size of all lists. */
export const pageLimit = { default: 50, max: 200 } as const;

export const PageQuery = {
  limit: z.coerce.number().int().min(1).max(pageLimit.max).default(pageLimit.default),
  cursor: z.string().min(1).max(512).optional(),
};

/** A page of the kernel, the control plane or the commercial gateway. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() });
}

/** A page of the gateway, whose wire names are camelCase. */
export function camelPage<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), nextCursor: z.string().nullable() });
}
