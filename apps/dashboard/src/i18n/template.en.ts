/** Words of saved workflows. */
export const templateEn = {
  'template.tab': 'Templates',
  'template.note': 'Saved in etcd, for everybody who builds workflows here.',
  'template.none': 'Nothing is saved yet.',
  'template.saved': 'Saved workflows',
  'template.load': 'Load',
  'template.loadFilled': 'Load with these values',
  'template.loadHoles': 'Load to edit',
  'template.export': 'Copy as JSON',
  'template.delete': 'Delete',
  'template.deleteTitle': 'Delete the template {title}',
  'template.deleteText': 'What was submitted from it goes on.',
  'template.deletedToast': 'Template {title} was deleted',
  'template.title': 'Save what is built as',
  'template.holes':
    'An argument that is a name in double braces, such as customer, becomes a parameter, asked for when it is loaded.',
  'template.replaces': 'A template of this title is there: it is replaced.',
  'template.save': 'Save template',
  'template.savedToast': 'Template {title} was saved',
  'template.typescript': 'Copy as TypeScript',
  'template.hole': '{arg} is the parameter {name}: load it from a template with a value, or type one here.',
} as const;
