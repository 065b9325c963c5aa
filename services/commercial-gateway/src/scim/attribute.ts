/** An attribute as RFC 7643 §7 describes it. */
export type Attribute = {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable';
  readonly returned: 'always' | 'default';
  readonly uniqueness: 'none' | 'server';
  readonly subAttributes?: readonly Attribute[];
  readonly referenceTypes?: readonly string[];
};

export function attribute(name: string, description: string, options: Partial<Attribute> = {}): Attribute {
  return {
    name,
    type: options.subAttributes === undefined ? 'string' : 'complex',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...options,
  };
}

export type ScimSchema = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
};

export type ResourceDefinition = {
  readonly name: 'User' | 'Group';
  readonly endpoint: string;
  readonly schema: ScimSchema;
  readonly extensions: readonly ScimSchema[];
};

/** Attributes of every resource, which no schema document lists (RFC 7643 §3.1). */
export const commonAttributes: readonly Attribute[] = [
  attribute('schemas', 'URIs of the schemas of the resource.', {
    multiValued: true,
    mutability: 'readOnly',
    returned: 'always',
  }),
  attribute('id', 'Identifier that the server assigned.', {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute('externalId', 'Identifier that the identity provider assigned.', { caseExact: true }),
  attribute('meta', 'Metadata of the resource.', {
    mutability: 'readOnly',
    subAttributes: [
      attribute('resourceType', 'Name of the resource type.', { mutability: 'readOnly', caseExact: true }),
      attribute('created', 'Time of creation.', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('lastModified', 'Time of the last change.', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('location', 'URI of the resource.', { type: 'reference', mutability: 'readOnly', caseExact: true }),
      attribute('version', 'Entity tag of the resource.', { mutability: 'readOnly', caseExact: true }),
    ],
  }),
];

/** Attribute names are compared without case (RFC 7643 §2.1). */
export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((candidate) => candidate.name.toLowerCase() === wanted);
}
