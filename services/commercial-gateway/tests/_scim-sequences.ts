import { scimSchemas } from '@countersign/contracts/commercial-gateway';

/*
 * Requests of identity providers. They are written from the public documentation, not recorded: Entra
 * (learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups) and Okta
 * (developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20). `{name}` is replaced by the ID that an earlier step
 * saved.
 */
export type Step = {
  send: string;
  body?: object;
  status: number;
  /** Expected members of the answer. */
  answer?: object;
  /** The name under which the ID in the answer is saved. */
  saves?: string;
};

const patch = (...Operations: object[]) => ({ schemas: [scimSchemas.patch], Operations });

export const entra: readonly Step[] = [
  {
    send: 'GET /Users?filter=userName eq "non-existent user"',
    status: 200,
    answer: { totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 },
  },
  {
    send: 'POST /Users',
    body: {
      schemas: [scimSchemas.user, scimSchemas.enterpriseUser],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_ab6490ee@corp.example',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b@corp.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
    },
    status: 201,
    answer: { userName: 'Test_User_ab6490ee@corp.example', active: true, meta: { resourceType: 'User' } },
    saves: 'user',
  },
  {
    send: 'GET /Users?filter=externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
    status: 200,
    answer: { totalResults: 1, Resources: [{ id: '{user}' }] },
  },
  {
    send: 'GET /Users?filter=userName eq "TEST_USER_AB6490EE@corp.example"&startIndex=1&count=1',
    status: 200,
    answer: { totalResults: 1, Resources: [{ id: '{user}' }] },
  },
  { send: 'GET /Users?filter=userName eq test_user_ab6490ee@corp.example', status: 200, answer: { totalResults: 1 } },
  {
    send: 'PATCH /Users/{user}',
    body: patch(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@corp.example' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: `${scimSchemas.enterpriseUser}:department`, value: 'Adjudication' },
    ),
    status: 200,
    answer: { name: { familyName: 'updatedFamilyName' }, emails: [{ value: 'updatedEmail@corp.example' }] },
  },
  {
    send: 'POST /Groups',
    body: {
      schemas: [scimSchemas.group, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'Engineers',
      meta: { resourceType: 'Group' },
    },
    status: 201,
    answer: { displayName: 'Engineers' },
    saves: 'group',
  },
  {
    send: 'GET /Groups?excludedAttributes=members&filter=displayName eq "engineers"',
    status: 200,
    answer: { totalResults: 1, Resources: [{ id: '{group}' }] },
  },
  {
    send: 'PATCH /Groups/{group}',
    body: patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
    status: 200,
    answer: { members: [{ value: '{user}', type: 'User' }] },
  },
  { send: 'GET /Groups?filter=members eq "{user}"', status: 200, answer: { totalResults: 1 } },
  {
    send: 'PATCH /Groups/{group}',
    body: patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{user}' }] }),
    status: 200,
    answer: { displayName: 'Engineers' },
  },
  {
    send: 'PATCH /Users/{user}',
    body: patch({ op: 'Replace', path: 'active', value: 'False' }),
    status: 200,
    answer: { active: false },
  },
  {
    send: 'PATCH /Users/{user}',
    body: patch({ op: 'Replace', path: 'active', value: 'True' }),
    status: 200,
    answer: { active: true },
  },
  { send: 'DELETE /Groups/{group}', status: 204 },
  { send: 'DELETE /Users/{user}', status: 204 },
  { send: 'GET /Users/{user}', status: 404, answer: { schemas: [scimSchemas.error], status: '404' } },
];

export const okta: readonly Step[] = [
  { send: 'GET /Users?startIndex=1&count=2', status: 200, answer: { totalResults: 0, startIndex: 1 } },
  {
    send: 'GET /Users?filter=userName eq "mark.cuban@corp.example"&startIndex=1&count=100',
    status: 200,
    answer: { totalResults: 0 },
  },
  {
    send: 'POST /Users',
    body: {
      schemas: [scimSchemas.user],
      userName: 'mark.cuban@corp.example',
      name: { givenName: 'Mark', familyName: 'Cuban' },
      emails: [{ primary: true, value: 'mark.cuban@corp.example', type: 'work' }],
      displayName: 'Mark Cuban',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    },
    status: 201,
    answer: { userName: 'mark.cuban@corp.example', active: true },
    saves: 'user',
  },
  {
    send: 'POST /Users',
    body: { schemas: [scimSchemas.user], userName: 'Mark.Cuban@corp.example', active: true },
    status: 409,
    answer: { schemas: [scimSchemas.error], scimType: 'uniqueness', status: '409' },
  },
  {
    send: 'PUT /Users/{user}',
    body: {
      schemas: [scimSchemas.user],
      id: '{user}',
      userName: 'mark.cuban@corp.example',
      name: { givenName: 'Mark', middleName: 'X', familyName: 'Cuban' },
      emails: [{ primary: true, value: 'mark.cuban@corp.example', type: 'work' }],
      active: true,
      groups: [],
      meta: { resourceType: 'User' },
    },
    status: 200,
    answer: { name: { middleName: 'X' } },
  },
  {
    send: 'PATCH /Users/{user}',
    body: patch({ op: 'replace', value: { active: false } }),
    status: 200,
    answer: { active: false },
  },
  {
    send: 'PATCH /Users/{user}',
    body: patch({ op: 'replace', value: { active: true } }),
    status: 200,
    answer: { active: true },
  },
  {
    send: 'POST /Groups',
    body: {
      schemas: [scimSchemas.group],
      displayName: 'Test SCIMv2',
      members: [{ value: '{user}', display: 'mark.cuban@corp.example' }],
    },
    status: 201,
    answer: { displayName: 'Test SCIMv2', members: [{ value: '{user}' }] },
    saves: 'group',
  },
  {
    send: 'PATCH /Groups/{group}',
    body: patch({ op: 'replace', value: { id: '{group}', displayName: 'Renamed' } }),
    status: 200,
    answer: { displayName: 'Renamed' },
  },
  {
    send: 'PATCH /Groups/{group}',
    body: patch(
      { op: 'remove', path: 'members[value eq "{user}"]' },
      { op: 'add', path: 'members', value: [{ value: '{user}' }] },
    ),
    status: 200,
    answer: { members: [{ value: '{user}' }] },
  },
  { send: 'GET /Users/{user}', status: 200, answer: { groups: [{ display: 'Renamed' }] } },
  { send: 'DELETE /Groups/{group}', status: 204 },
];
