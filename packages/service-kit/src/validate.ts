import { AppError, type Shape } from '@countersign/contracts';
import type { z } from 'zod';

/** Enough to correct a request, few enough that an answer stays small. */
const issuesMax = 20;

/** The parsed value. Throws UNKNOWN_MEMBER or INVALID_REQUEST with the name of the member and the first issues. */
export function validate<T>(shape: Shape<T>, value: unknown): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refusal(parsed.error.issues);
}

function refusal(issues: readonly z.core.$ZodIssue[]): AppError {
  const details = { issues: issues.slice(0, issuesMax).map(describe) };
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) {
    const param = dotted([...unknown.path, unknown.keys[0] ?? '']);
    return new AppError('UNKNOWN_MEMBER', `Unknown member ${param}`, { param, details });
  }
  const first = issues[0];
  const param = first === undefined ? '' : dotted(first.path);
  const named = param === '' ? {} : { param };
  const fault = first === undefined ? 'The request is invalid' : sentenceOf(first);
  // Many clients show only the message, so it also names the member.
  return new AppError('INVALID_REQUEST', param === '' ? fault : `${param}: ${fault}`, { ...named, details });
}

/** A sentence with more values is unreadable. The details contain all values. */
const namedValuesMax = 12;

function sentenceOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_value' || issue.values.length <= namedValuesMax) return issue.message;
  return `Invalid option: details.issues lists the ${issue.values.length} valid ones`;
}

function describe(issue: z.core.$ZodIssue): { path: string; code: string; message: string } {
  return { path: dotted(issue.path), code: issue.code, message: issue.message };
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.').slice(0, 256);
}
