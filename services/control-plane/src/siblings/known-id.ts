import { AppError } from '@countersign/contracts';
import type { z } from 'zod';

/**
 * An id that is part of a sibling's path: a text that is no id of this kind is not found, and never gets into that
 * path. Throws NOT_FOUND.
 */
export function knownId<Shape extends z.ZodType>(shape: Shape, text: string): z.infer<Shape> {
  const id = shape.safeParse(text);
  if (id.success) return id.data;
  throw new AppError('NOT_FOUND', 'There is no such object');
}
