import { isAppError } from '@countersign/contracts';
import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { patchGroup, patchUser } from '../src/scim/parse-resource.ts';

export const ada = {
  userName: 'Ada@Example.com',
  externalId: 'ext-1',
  active: true,
  name: { givenName: 'Ada', familyName: 'Byron' },
  displayName: 'Ada Byron',
  emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
};

export const patchOf = (...Operations: object[]) => ({ schemas: [scimSchemas.patch], Operations });

export const patchedAda = (...operations: object[]) => patchUser(ada, patchOf(...operations));

export const team = { displayName: 'Team', members: [{ value: 'a.b@c.d' }, { value: 'urn:x:1' }, { value: 'usr-3' }] };

export const patchedTeam = (...operations: object[]) => patchGroup(team, patchOf(...operations));

/** Returns the error of a call as its code, SCIM keyword and invalid member. Returns `accepted` without an error. */
export function refusalOf(call: () => unknown): string {
  try {
    call();
    return 'accepted';
  } catch (error) {
    if (!isAppError(error)) return String(error);
    return [error.code, error.details?.['scim_type'], error.param].filter(Boolean).join(' ');
  }
}
