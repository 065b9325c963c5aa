import { createClient } from '@countersign/contracts';
import * as routes from '@countersign/contracts/routes';
import type { RoleMapping } from '@countersign/contracts/commercial-gateway';
import { untilAnswered, patienceMs } from '@countersign/testkit/until';
import { Octokit } from '@octokit/core';
import { enterpriseCloud } from '@octokit/plugin-enterprise-cloud';
import { inDatabase, type SignedIn } from './_system.ts';

/** An answer with its members. Error answers have the same type. */
export type Answer = { status: number; headers: Record<string, string>; data: Record<string, unknown> };
type Call = (parameters?: Record<string, unknown>) => Promise<Answer>;
type Act = 'list' | 'provision' | 'get' | 'put' | 'patch' | 'remove';
export type ScimClient = Readonly<Record<'users' | 'groups', Readonly<Record<Act, Call>>>>;

type Endpoint = { url: string; headers: Record<string, string> };
type Send = ((endpoint: Endpoint) => Promise<Answer>) & {
  endpoint: { merge(route: string, parameters?: object): Endpoint & { enterprise?: string } };
};

/**
 * GitHub's own client for the SCIM interface of GitHub Enterprise Cloud. Its methods, paths, bodies, queries and errors
 * are unchanged. An authentication hook removes `/enterprises/{enterprise}` from the path and adds the bearer.
 */
export function scimClient(gatewayUrl: string, bearer: string): ScimClient {
  const hook = (send: Send, route: string, parameters?: object) => {
    const { enterprise: _, ...endpoint } = send.endpoint.merge(route, parameters);
    const url = endpoint.url.replace('/enterprises/:enterprise', '');
    return send({ ...endpoint, url, headers: { ...endpoint.headers, authorization: `Bearer ${bearer}` } });
  };
  const authStrategy = () => Object.assign(async () => ({}), { hook });
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const octokit = new Octokit({ authStrategy, baseUrl: gatewayUrl, log });
  const methods = enterpriseCloud(octokit)['enterpriseAdmin'] as Record<string, Call>; // the package has no types for its methods
  const call = (name: string, idName?: string): Call => {
    const method = methods[name];
    if (method === undefined) throw new Error(`The client has no method ${name}`);
    return async ({ id, ...parameters } = {}) => {
      try {
        return await method({ enterprise: 'this', ...(idName === undefined ? {} : { [idName]: id }), ...parameters });
      } catch (error) {
        const { response } = error as { response?: Answer };
        if (response === undefined) throw error;
        return response;
      }
    };
  };
  return {
    users: {
      list: call('listProvisionedIdentitiesEnterprise'),
      provision: call('provisionEnterpriseUser'),
      get: call('getProvisioningInformationForEnterpriseUser', 'scim_user_id'),
      put: call('setInformationForProvisionedEnterpriseUser', 'scim_user_id'),
      patch: call('updateAttributeForEnterpriseUser', 'scim_user_id'),
      remove: call('deleteUserFromEnterprise', 'scim_user_id'),
    },
    groups: {
      list: call('listProvisionedGroupsEnterprise'),
      provision: call('provisionEnterpriseGroup'),
      get: call('getProvisioningInformationForEnterpriseGroup', 'scim_group_id'),
      put: call('setInformationForProvisionedEnterpriseGroup', 'scim_group_id'),
      patch: call('updateAttributeForEnterpriseGroup', 'scim_group_id'),
      remove: call('deleteScimGroupFromEnterprise', 'scim_group_id'),
    },
  };
}

type Site = { gatewayUrl: string; dataDir: string };
type NewOrg = { name: string; domain: string; roleMappings: RoleMapping[] };

/** An organisation of the owner's workspace, with a verified domain, and the bearer token of its identity provider. */
export async function newOrg(
  { gatewayUrl, dataDir }: Site,
  { token, workspaceId }: SignedIn,
  { name, domain, roleMappings }: NewOrg,
): Promise<{ orgId: string; bearer: string }> {
  const { bootstrapOrg, createScimToken, getIdentity, putIdentity } = {
    ...routes.controlPlaneRoutes,
    ...routes.commercialRoutes,
  };
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId };
  const used = { bootstrapOrg, createScimToken, getIdentity, putIdentity };
  const owner = createClient(used, { baseUrl: gatewayUrl, headers: () => headers, timeoutMs: patienceMs });
  const { org_id } = (await owner.bootstrapOrg({ body: { name } })).body;
  const query = { org_id };
  const { version } = (await untilAnswered(() => owner.getIdentity({ query }).catch(() => null))).body;
  const body = { sso_required: false, oidc_connection_id: null, role_mappings: roleMappings, domains: [domain] };
  await owner.putIdentity({ query, body, headers: { 'if-match': `"${version}"` } });
  // No test has a real domain in DNS.
  const statement = 'UPDATE claimed_domains SET verified_at = now() WHERE domain = $1';
  await inDatabase(dataDir, { schema: 'commercial', statement, values: [domain] });
  const { secret } = (await owner.createScimToken({ query, body: { name: 'Directory' } })).body;
  return { orgId: org_id, bearer: secret };
}

export const patchOf = (...Operations: object[]): Record<string, unknown> => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
});
export const inactive = patchOf({ op: 'Replace', path: 'active', value: 'False' });
