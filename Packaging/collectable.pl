# Copies a static library of Swift so that the linker may leave out more of it. The compiler marks every public function
# and all that describes types with SHF_GNU_RETAIN, so that they stay even if nothing refers to them. The mark is left to
# the sections in which the runtime searches: types, protocols, conformances. References to two kinds of sections go, too:
# to the members of types and the captures of closures, which only reflection and debuggers read, and, from the tables of
# jumps, which all functions have in one section, to those that are named after the two files: Scripts/build replaces them.
# Of attributed strings, the collections for them, property lists and Foundation's JSON, which nothing here has, types and
# conformances lose the mark, too, and the references from one file to another go by their names. So do references from code
# to functions with such a name: one, in the section that its file has for all functions that are not public, kept the rest.
# Undefined symbols of these names are weak, so that none loads a file only to have it left out.
use v5.20;
use warnings;

my $retain = 1 << 21;
my $reflection = qr/^swift5_(capture|fieldmd)$/;
my $unused = qr/Attribut|Plist|PropertyList|^JSON(5Scanner|Decoder|Encoder|Scanner|Writer)\.|^Conversion\.|lib_FoundationCollections/;
my $unusedName = qr/Attribute(dString|dSubstring|Scope|Container)|Plist|PropertyList|FoundationEssentials\d+_*JSON|FoundationCollections/;
# Such a function stands for several with the same code, of which others may be used.
my $merged = qr/Tm$/;
my $searched = qr/^swift5_(protocol_conformances|protocols|type_metadata(_2)?)$/;
my $memberNames = '';
my $referredTo = qr/^(\.|swift5_(assocty|builtin|capture|fieldmd|mpenum)$)/;

my ($from, $to, @replaced) = @ARGV;
my %isReplaced = map { (".text.$_" => 1) } @replaced;
open my $input, '<:raw', $from or die "$from: $!\n";
my $archive = do { local $/; <$input> };
my $isUnusedName = sub {
  my $name = unpack 'Z*', substr $archive, shift, 4000;
  return $name =~ $unusedName && $name !~ $merged;
};
for (my $next = length "!<arch>\n"; $next < length $archive;) {
  my $object = $next + 60;
  my $size = substr $archive, $next + 48, 10;
  $next = $object + $size + $size % 2;
  my ($member) = substr($archive, $object - 60, 16) =~ /^(.*?) *$/;
  $memberNames = substr $archive, $object, $size if $member eq '//';
  ($member) = substr($memberNames, $1) =~ m{^(.*?)/\n} if $member =~ m{^/(\d+)$};
  my $isUnused = "$member $from" =~ $unused;
  next if substr($archive, $object, 4) ne "\x7fELF";
  # The fields e_shoff, e_shnum and e_shstrndx, and in a section's header sh_name, sh_flags, sh_offset, sh_size and sh_link.
  my ($headers, $count, $names) = unpack 'x40 Q< x12 v v', substr $archive, $object, 64;
  my $section = sub { unpack 'V x4 Q< x8 Q< Q< V', substr $archive, $object + $headers + 64 * shift, 64 };
  my ($text) = ($section->($names))[2];
  my $nameOf = sub { unpack 'Z*', substr $archive, $object + $text + ($section->(shift))[0], 256 };
  for my $index (0 .. $count - 1) {
    my (undef, $flags, $offset, $length, $symbols) = $section->($index);
    my $name = $nameOf->($index);
    if ($name =~ /^\.rela\./) {
      my (undef, undef, $table, undef, $strings) = $section->($symbols);
      my ($symbol, $symbolNames) = ($object + $table, $object + ($section->($strings))[2]);
      my $isCode = $name =~ /^\.rela\.text/;
      for (my $entry = $object + $offset; $entry < $object + $offset + $length; $entry += 24) {
        # The fields r_info, and of a symbol st_name, st_info and st_shndx: that of a section has type 3, and one of another
        # file has no section. No relocation has type 0.
        my $of = $symbol + 24 * (unpack('Q<', substr $archive, $entry + 8, 8) >> 32);
        my ($word, $type, $place) = unpack 'V C x v', substr $archive, $of, 8;
        next if $place >= $count;
        if ($place == 0 || $isCode && ($type & 15) != 3) {
          next if !$isUnusedName->($symbolNames + $word);
        } else {
          my $target = $nameOf->($place);
          my $isJump = $name eq '.rela.rodata' && ($type & 15) == 3 && $isReplaced{$target};
          next if !$isJump && $target !~ $reflection;
        }
        substr($archive, $entry + 8, 8) = pack 'Q<', 0;
      }
    }
    if ($name eq '.symtab') {
      # Undefined symbols have no type; 2 is STB_WEAK.
      my $symbolNames = $object + ($section->($symbols))[2];
      for (my $entry = $object + $offset; $entry < $object + $offset + $length; $entry += 24) {
        my ($word, undef, $place) = unpack 'V C x v', substr $archive, $entry, 8;
        next if $place != 0 || !$isUnusedName->($symbolNames + $word);
        substr($archive, $entry + 4, 1) = pack 'C', 2 << 4;
      }
    }
    next if !($flags & $retain);
    next if $name !~ $referredTo && !($isUnused && $name =~ $searched);
    substr($archive, $object + $headers + 64 * $index + 8, 8) = pack 'Q<', $flags & ~$retain;
  }
}
open my $output, '>:raw', $to or die "$to: $!\n";
print $output $archive;
close $output or die "$to: $!\n";
