import { AppError, isAppError } from '@countersign/contracts';
import type { OauthSettings } from './oauth-tokens.ts';

type Challenging = Pick<OauthSettings, 'resource' | 'scopes'>;

/** RFC 9728 §3.1: the well-known segment precedes the path of the resource. */
function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname}`;
}

/** The error with the challenge of RFC 6750 §3, which tells a client where to request a token. */
export function challenged({ resource, scopes }: Challenging, error: unknown): unknown {
  if (!isAppError(error) || error.status !== 401) return error;
  const isMissing = error.code === 'CREDENTIALS_REQUIRED';
  const header = challengeText([...(isMissing ? [] : ['error="invalid_token"']), ...common({ resource, scopes })]);
  return withChallenge(error, header);
}

/** 403 with all required scopes, so that one new token is enough. */
export function insufficientScope({ resource, scopes }: Challenging): AppError {
  const error = new AppError('PERMISSION_DENIED', `The access token lacks one of the scopes ${scopes.join(' ')}`);
  return withChallenge(error, challengeText(['error="insufficient_scope"', ...common({ resource, scopes })]));
}

function common({ resource, scopes }: Challenging): string[] {
  return [`resource_metadata="${metadataUrlOf(resource)}"`, `scope="${scopes.join(' ')}"`];
}

const challengeText = (members: string[]) => `Bearer ${members.join(', ')}`;

function withChallenge(error: AppError, header: string): AppError {
  const { code, message, param } = error;
  return new AppError(code, message, {
    ...(param === null ? {} : { param }),
    cause: error,
    headers: { ...error.headers, 'www-authenticate': header },
  });
}
