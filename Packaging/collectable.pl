# Copies a static library of Swift so that the linker may leave out more of it. The compiler marks every public function
# and all that describes types with SHF_GNU_RETAIN, so that they stay even if nothing refers to them. The mark is left to
# the sections in which the runtime searches: types, protocols, conformances.
use v5.20;
use warnings;

my $retain = 1 << 21;
my $referredTo = qr/^(\.|swift5_(assocty|builtin|capture|fieldmd|mpenum)$)/;

my ($from, $to) = @ARGV;
open my $input, '<:raw', $from or die "$from: $!\n";
my $archive = do { local $/; <$input> };
for (my $next = length "!<arch>\n"; $next < length $archive;) {
  my $object = $next + 60;
  my $size = substr $archive, $next + 48, 10;
  $next = $object + $size + $size % 2;
  next if substr($archive, $object, 4) ne "\x7fELF";
  # The fields e_shoff, e_shnum and e_shstrndx, and in a section's header sh_name, sh_flags and sh_offset.
  my ($headers, $count, $names) = unpack 'x40 Q< x12 v v', substr $archive, $object, 64;
  my $section = sub { unpack 'V x4 Q< x8 Q<', substr $archive, $object + $headers + 64 * shift, 64 };
  my ($text) = ($section->($names))[2];
  for my $index (0 .. $count - 1) {
    my ($name, $flags) = $section->($index);
    next if !($flags & $retain);
    next if unpack('Z*', substr $archive, $object + $text + $name, 64) !~ $referredTo;
    substr($archive, $object + $headers + 64 * $index + 8, 8) = pack 'Q<', $flags & ~$retain;
  }
}
open my $output, '>:raw', $to or die "$to: $!\n";
print $output $archive;
close $output or die "$to: $!\n";
