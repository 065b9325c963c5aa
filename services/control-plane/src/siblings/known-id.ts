import { AppError } from '@countersign/contracts';
import type { z } from 'zod';

/**
 * An id that a sibling is asked for by a path of its own: what is no id of this kind is nobody's, and never gets into that path. Throws
 * NOT_FOUND.
 */
export function knownId<Shape extends z.ZodType>(shape: Shape, text: string): z.infer<Shape> {
  const id = shape.safeParse(text);
  if (id.success) return id.data;
  throw new AppError('NOT_FOUND', 'There is no such object');
}
