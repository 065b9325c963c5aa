import { AppError } from '@countersign/contracts';
import type { z } from 'zod';

/**
 * Validates an id of a request before it becomes part of a query or of a sibling's path. Throws NOT_FOUND for any other
 * text.
 */
export function knownId<Shape extends z.ZodType>(shape: Shape, text: string): z.infer<Shape> {
  const id = shape.safeParse(text);
  if (id.success) return id.data;
  throw new AppError(
    'NOT_FOUND',
    'This object does not exist, or you have no access to it. Check its ID and the workspace',
  );
}
