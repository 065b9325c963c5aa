import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { attribute, type ResourceDefinition } from './attribute.ts';

const type = attribute('type', 'Label of the value, such as work or home.');
const primary = attribute('primary', 'Whether this is the preferred value.', { type: 'boolean' });
const display = attribute('display', 'Value for display.');

function plural(name: string, description: string, value: string) {
  return attribute(name, description, {
    multiValued: true,
    subAttributes: [attribute('value', value), display, type, primary],
  });
}

/**
 * People, with the attributes that Entra and Okta send. There is no attribute for passwords, because this server stores
 * none.
 */
export const userDefinition: ResourceDefinition = {
  name: 'User',
  endpoint: '/Users',
  schema: {
    id: scimSchemas.user,
    name: 'User',
    description: 'A person of the organisation.',
    attributes: [
      attribute('userName', 'Name by which the identity provider knows the person.', {
        required: true,
        uniqueness: 'server',
      }),
      attribute('name', 'Components of the name.', {
        subAttributes: [
          attribute('formatted', 'Full name.'),
          attribute('familyName', 'Family name.'),
          attribute('givenName', 'Given name.'),
          attribute('middleName', 'Middle name.'),
          attribute('honorificPrefix', 'Title before the name.'),
          attribute('honorificSuffix', 'Suffix after the name.'),
        ],
      }),
      attribute('displayName', 'Name for display.'),
      attribute('nickName', 'Casual name.'),
      attribute('profileUrl', 'URL of a profile.', { type: 'reference', referenceTypes: ['external'] }),
      attribute('title', 'Job title.'),
      attribute('userType', 'Relation to the organisation, such as Employee.'),
      attribute('preferredLanguage', 'Preferred language.'),
      attribute('locale', 'Locale for formats.'),
      attribute('timezone', 'Time zone name.'),
      attribute('active', 'Whether the person has access. `false` ends it.', { type: 'boolean' }),
      plural('emails', 'E-mail addresses.', 'E-mail address.'),
      plural('phoneNumbers', 'Phone numbers.', 'Phone number.'),
      attribute('addresses', 'Postal addresses.', {
        multiValued: true,
        subAttributes: [
          attribute('formatted', 'Full address.'),
          attribute('streetAddress', 'Street and number.'),
          attribute('locality', 'City.'),
          attribute('region', 'State or region.'),
          attribute('postalCode', 'Postal code.'),
          attribute('country', 'Country.'),
          type,
          primary,
        ],
      }),
      plural('roles', 'Roles at the identity provider. They grant nothing here: groups do.', 'Role.'),
      attribute('groups', 'Groups that the person belongs to.', {
        multiValued: true,
        mutability: 'readOnly',
        subAttributes: [
          attribute('value', 'Identifier of the group.', { mutability: 'readOnly', caseExact: true }),
          attribute('display', 'Name of the group.', { mutability: 'readOnly' }),
        ],
      }),
    ],
  },
  extensions: [
    {
      id: scimSchemas.enterpriseUser,
      name: 'EnterpriseUser',
      description: 'Attributes of a person in an enterprise.',
      attributes: [
        attribute('employeeNumber', 'Number of the employee.'),
        attribute('costCenter', 'Cost center.'),
        attribute('organization', 'Organisation.'),
        attribute('division', 'Division.'),
        attribute('department', 'Department.'),
        attribute('manager', 'Manager of the person.', {
          subAttributes: [
            attribute('value', 'Identifier of the manager.', { caseExact: true }),
            attribute('$ref', 'URI of the manager.', { type: 'reference', referenceTypes: ['User'], caseExact: true }),
            attribute('displayName', 'Name of the manager.'),
          ],
        }),
      ],
    },
  ],
};
