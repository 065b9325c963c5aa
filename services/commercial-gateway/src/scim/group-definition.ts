import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { attribute, type ResourceDefinition } from './attribute.ts';

/** Groups of people. Nested groups are not supported. */
export const groupDefinition: ResourceDefinition = {
  name: 'Group',
  endpoint: '/Groups',
  schema: {
    id: scimSchemas.group,
    name: 'Group',
    description: 'A group of people, which role mappings refer to.',
    attributes: [
      attribute('displayName', 'Name of the group.', { required: true }),
      attribute('members', 'People in the group.', {
        multiValued: true,
        subAttributes: [
          attribute('value', 'Identifier of the person.', { mutability: 'immutable', caseExact: true }),
          attribute('$ref', 'URI of the person.', {
            type: 'reference',
            mutability: 'immutable',
            referenceTypes: ['User'],
            caseExact: true,
          }),
          attribute('display', 'Name of the person.'),
          attribute('type', 'Always `User`.', { mutability: 'immutable', caseExact: true }),
        ],
      }),
    ],
  },
  extensions: [],
};
