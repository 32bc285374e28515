extension FakeCountries {
  /// Code, name, region and capital of 249 countries, in the order of the service, which goes by names
  /// that are not these.
  static let rows = """
    AF|Afghanistan|AS|Kabul
    AX|Åland Islands|EU|Mariehamn
    AL|Albania|EU|Tirana
    DZ|Algeria|AF|Algiers
    AS|American Samoa|OC|Pago Pago
    AD|Andorra|EU|Andorra la Vella
    AO|Angola|AF|Luanda
    AI|Anguilla|NA|The Valley
    AG|Antigua and Barbuda|NA|St. John's
    AR|Argentina|SA|Buenos Aires
    AM|Armenia|AS|Yerevan
    AW|Aruba|NA|Oranjestad
    AU|Australia|OC|Canberra
    AT|Austria|EU|Vienna
    AZ|Azerbaijan|AS|Baku
    BS|Bahamas|NA|Nassau
    BH|Bahrain|AS|Manama
    BD|Bangladesh|AS|Dhaka
    BB|Barbados|NA|Bridgetown
    BY|Belarus|EU|Minsk
    BE|Belgium|EU|Brussels
    BZ|Belize|NA|Belmopan
    BJ|Benin|AF|Porto-Novo
    BM|Bermuda|NA|Hamilton
    BT|Bhutan|AS|Thimphu
    BO|Bolivia, Plurinational State of|SA|Sucre
    BQ|Bonaire, Sint Eustatius and Saba|NA|Kralendijk
    BA|Bosnia and Herzegovina|EU|Sarajevo
    BW|Botswana|AF|Gaborone
    BV|Bouvet Island|AN|
    BR|Brazil|SA|Brasilia
    IO|British Indian Ocean Territory|AS|Diego Garcia
    VG|Virgin Islands (British)|NA|Road Town
    VI|Virgin Islands (U.S.)|NA|Charlotte Amalie
    BN|Brunei Darussalam|AS|Bandar Seri Begawan
    BG|Bulgaria|EU|Sofia
    BF|Burkina Faso|AF|Ouagadougou
    BI|Burundi|AF|Gitega
    CV|Cabo Verde|AF|Praia
    KH|Cambodia|AS|Phnom Penh
    CM|Cameroon|AF|Yaounde
    CA|Canada|NA|Ottawa
    KY|Cayman Islands|NA|George Town
    CF|Central African Republic|AF|Bangui
    TD|Chad|AF|N'Djamena
    CL|Chile|SA|Santiago
    CN|China|AS|Beijing
    CX|Christmas Island|OC|Flying Fish Cove
    CC|Cocos (Keeling) Islands|AS|West Island
    CO|Colombia|SA|Bogota
    KM|Comoros|AF|Moroni
    CG|Congo|AF|Brazzaville
    CD|Congo, The Democratic Republic of the|AF|Kinshasa
    CK|Cook Islands|OC|Avarua
    CR|Costa Rica|NA|San Jose
    HR|Croatia|EU|Zagreb
    CU|Cuba|NA|Havana
    CW|Curaçao|NA| Willemstad
    CY|Cyprus|EU|Nicosia
    CZ|Czechia|EU|Prague
    DK|Denmark|EU|Copenhagen
    DJ|Djibouti|AF|Djibouti
    DM|Dominica|NA|Roseau
    DO|Dominican Republic|NA|Santo Domingo
    EC|Ecuador|SA|Quito
    EG|Egypt|AF|Cairo
    SV|El Salvador|NA|San Salvador
    GQ|Equatorial Guinea|AF|Ciudad de la Paz
    ER|Eritrea|AF|Asmara
    EE|Estonia|EU|Tallinn
    SZ|Eswatini|AF|Mbabane
    ET|Ethiopia|AF|Addis Ababa
    FK|Falkland Islands (Malvinas)|SA|Stanley
    FO|Faroe Islands|EU|Torshavn
    FJ|Fiji|OC|Suva
    FI|Finland|EU|Helsinki
    FR|France|EU|Paris
    GF|French Guiana|SA|Cayenne
    PF|French Polynesia|OC|Papeete
    TF|French Southern Territories|AN|Port-aux-Francais
    GA|Gabon|AF|Libreville
    GM|Gambia|AF|Banjul
    GE|Georgia|AS|Tbilisi
    DE|Germany|EU|Berlin
    GH|Ghana|AF|Accra
    GI|Gibraltar|EU|Gibraltar
    GR|Greece|EU|Athens
    GL|Greenland|NA|Nuuk
    GD|Grenada|NA|St. George's
    GP|Guadeloupe|NA|Basse-Terre
    GU|Guam|OC|Hagatna
    GT|Guatemala|NA|Guatemala City
    GG|Guernsey|EU|St Peter Port
    GN|Guinea|AF|Conakry
    GW|Guinea-Bissau|AF|Bissau
    GY|Guyana|SA|Georgetown
    HT|Haiti|Americas|Port-au-Prince
    HM|Heard Island and McDonald Islands||
    VA|Holy See (Vatican City State)|EU|Rome
    HN|Honduras|NA|Tegucigalpa
    HK|Hong Kong|AS|Hong Kong
    HU|Hungary|EU|Budapest
    IS|Iceland|EU|Reykjavik
    IN|India|AS|New Delhi
    ID|Indonesia|AS|Jakarta
    IR|Iran, Islamic Republic of|AS|Tehran
    IQ|Iraq|AS|Baghdad
    IE|Ireland|EU|Dublin
    IM|Isle of Man|EU|Douglas
    IL|Israel|AS|Jerusalem
    IT|Italy|EU|Rome
    CI|Côte d'Ivoire|AF|Yamoussoukro
    JM|Jamaica|NA|Kingston
    JP|Japan|AS|Tokyo
    JE|Jersey|EU|Saint Helier
    JO|Jordan|AS|Amman
    KZ|Kazakhstan|AS|Nur-Sultan
    KE|Kenya|AF|Nairobi
    KI|Kiribati|OC|Tarawa
    XK|Kosovo|EU|Pristina
    KW|Kuwait|AS|Kuwait City
    KG|Kyrgyzstan|AS|Bishkek
    LA|Lao People's Democratic Republic|AS|Vientiane
    LV|Latvia|EU|Riga
    LB|Lebanon|AS|Beirut
    LS|Lesotho|AF|Maseru
    LR|Liberia|AF|Monrovia
    LY|Libya|AF|Tripoli
    LI|Liechtenstein|EU|Vaduz
    LT|Lithuania|EU|Vilnius
    LU|Luxembourg|EU|Luxembourg
    MO|Macao|AS|
    MG|Madagascar|AF|Antananarivo
    MW|Malawi|AF|Lilongwe
    MY|Malaysia|AS|Kuala Lumpur
    MV|Maldives|AS|Male
    ML|Mali|AF|Bamako
    MT|Malta|EU|Valletta
    MH|Marshall Islands|OC|Majuro
    MQ|Martinique|Americas|Fort-de-France
    MR|Mauritania|AF|Nouakchott
    MU|Mauritius|AF|Port Louis
    YT|Mayotte|AF|Mamoudzou
    MX|Mexico|NA|Mexico City
    FM|Micronesia, Federated States of|OC|Palikir
    MD|Moldova, Republic of|EU|Chisinau
    MC|Monaco|EU|Monaco
    MN|Mongolia|AS|Ulaanbaatar
    ME|Montenegro|EU|Podgorica
    MS|Montserrat|NA|Plymouth
    MA|Morocco|AF|Rabat
    MZ|Mozambique|AF|Maputo
    MM|Myanmar|AS|Nay Pyi Taw
    NA|Namibia|AF|Windhoek
    NR|Nauru|OC|Yaren
    NP|Nepal|AS|Kathmandu
    NL|Netherlands|EU|Amsterdam
    NC|New Caledonia|OC|Noumea
    NZ|New Zealand|OC|Wellington
    NI|Nicaragua|NA|Managua
    NE|Niger|AF|Niamey
    NG|Nigeria|AF|Abuja
    NU|Niue|OC|Alofi
    NF|Norfolk Island|OC|Kingston
    KP|Korea (Democratic People's Republic of)|AS|Pyongyang
    MK|North Macedonia|EU|Skopje
    MP|Northern Mariana Islands|OC|Saipan
    NO|Norway|EU|Oslo
    OM|Oman|AS|Muscat
    PK|Pakistan|AS|Islamabad
    PW|Palau|OC|Melekeok
    PS|Palestine, State of|AS|East Jerusalem
    PA|Panama|NA|Panama City
    PG|Papua New Guinea|OC|Port Moresby
    PY|Paraguay|SA|Asuncion
    PE|Peru|SA|Lima
    PH|Philippines|AS|Manila
    PN|Pitcairn|OC|Adamstown
    PL|Poland|EU|Warsaw
    PT|Portugal|EU|Lisbon
    PR|Puerto Rico|NA|San Juan
    QA|Qatar|AS|Doha
    RE|Réunion|AF|Saint-Denis
    RO|Romania|EU|Bucharest
    RU|Russian Federation|EU|Moscow
    RW|Rwanda|AF|Kigali
    BL|Saint Barthélemy|NA|Gustavia
    SH|Saint Helena, Ascension and Tristan da Cunha|AF|Jamestown
    KN|Saint Kitts and Nevis|NA|Basseterre
    LC|Saint Lucia|NA|Castries
    MF|Saint Martin (French part)|NA|Marigot
    PM|Saint Pierre and Miquelon|NA|Saint-Pierre
    VC|Saint Vincent and the Grenadines|NA|Kingstown
    WS|Samoa|OC|Apia
    SM|San Marino|EU|San Marino
    ST|Sao Tome and Principe|AF|Sao Tome
    SA|Saudi Arabia|AS|Riyadh
    SN|Senegal|AF|Dakar
    RS|Serbia|EU|Belgrade
    SC|Seychelles|AF|Victoria
    SL|Sierra Leone|AF|Freetown
    SG|Singapore|AS|Singapore
    SX|Sint Maarten (Dutch part)|Americas|Philipsburg
    SK|Slovakia|EU|Bratislava
    SI|Slovenia|EU|Ljubljana
    SB|Solomon Islands|OC|Honiara
    SO|Somalia|AF|Mogadishu
    ZA|South Africa|AF|Pretoria
    GS|South Georgia and the South Sandwich Islands|AN|Grytviken
    KR|Korea (Republic of)|AS|Seoul
    SS|South Sudan|AF|Juba
    ES|Spain|EU|Madrid
    LK|Sri Lanka|AS|Colombo
    SD|Sudan|AF|Khartoum
    SR|Suriname|SA|Paramaribo
    SJ|Svalbard and Jan Mayen|EU|Longyearbyen
    SE|Sweden|EU|Stockholm
    CH|Switzerland|EU|Bern
    SY|Syrian Arab Republic|AS|Damascus
    TW|Taiwan, Province of China|AS|Taipei
    TJ|Tajikistan|AS|Dushanbe
    TZ|Tanzania, United Republic of|AF|Dodoma
    TH|Thailand|AS|Bangkok
    TL|Timor-Leste|OC|Dili
    TG|Togo|AF|Lome
    TK|Tokelau|OC|Port of Tokelau
    TO|Tonga|OC|Nuku'alofa
    TT|Trinidad and Tobago|NA|Port of Spain
    TN|Tunisia|AF|Tunis
    TR|Türkiye|AS|Ankara
    TM|Turkmenistan|AS|Ashgabat
    TC|Turks and Caicos Islands|NA|Cockburn Town
    TV|Tuvalu|OC|Funafuti
    UG|Uganda|AF|Kampala
    UA|Ukraine|EU|Kyiv
    AE|United Arab Emirates|AS|Abu Dhabi
    GB|United Kingdom of Great Britain and Northern Ireland|EU|London
    US|United States of America|NA|Washington, D.C.
    UM|United States Minor Outlying Islands|OC|
    UY|Uruguay|SA|Montevideo
    UZ|Uzbekistan|AS|Tashkent
    VU|Vanuatu|OC|Port Vila
    VE|Venezuela, Bolivarian Republic of|SA|Caracas
    VN|Viet Nam|AS|Hanoi
    WF|Wallis and Futuna|OC|Mata Utu
    EH|Western Sahara|AF|El-Aaiun
    YE|Yemen|AS|Sanaa
    ZM|Zambia|AF|Lusaka
    ZW|Zimbabwe|AF|Harare
    """.split(separator: "\n").map {
      $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
}
