import { scimLimits, scimSchemas } from '@countersign/contracts/commercial-gateway';
import type { ResourceDefinition, ScimSchema } from './attribute.ts';
import { groupDefinition } from './group-definition.ts';
import { listResponse } from './list-response.ts';
import { userDefinition } from './user-definition.ts';

const definitions = [userDefinition, groupDefinition];

/** The features that this server supports (RFC 7643 §5). */
export function serviceProviderConfig(baseUrl: string) {
  return {
    schemas: [scimSchemas.serviceProviderConfig],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: scimLimits.page },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'SCIM token',
        description: 'A token of the organisation, sent as a bearer token.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

export function resourceTypes(baseUrl: string) {
  return listOfAll(definitions.map((definition) => resourceType(definition, baseUrl)));
}

export function schemas(baseUrl: string) {
  const all = definitions.flatMap(({ schema, extensions }) => [schema, ...extensions]);
  return listOfAll(all.map((schema) => schemaDocument(schema, baseUrl)));
}

function resourceType({ name, endpoint, schema, extensions }: ResourceDefinition, baseUrl: string) {
  return {
    schemas: [scimSchemas.resourceType],
    id: name,
    name,
    endpoint,
    description: schema.description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${name}` },
  };
}

function schemaDocument(schema: ScimSchema, baseUrl: string) {
  return {
    schemas: [scimSchemas.schema],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  };
}

function listOfAll<Resource>(resources: readonly Resource[]) {
  return listResponse({ resources, totalResults: resources.length, startIndex: 1 });
}
